// Keeps scores with their classes for auc, or histograms of the scores of negative and of positive
// samples.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/metric.h"

namespace cgrun::reference {
namespace {

struct AucParameters {
  int64_t samples = 0;
  int64_t bins = 0;
  bool from_logits = true;
  bool two_logits = false;
};

// Returns a number from 0 to 1 that keeps the order of the scores.
double Place(double score, bool from_logits) {
  if (!from_logits) return std::clamp(score, 0.0, 1.0);
  return std::isinf(score) ? (score > 0 ? 1 : 0) : 0.5 + score / (2 + 2 * std::abs(score));
}

template <class T>
double ScoreOf(const T* x, int64_t n, bool two_logits) {
  return two_logits ? LoadF64(x[2 * n + 1]) - LoadF64(x[2 * n]) : LoadF64(x[n]);
}

template <class T, class Target>
struct AucSamples {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AucParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const Target* target = Data<const Target>(context, i, 1);
    double* samples = Data<double>(context, i, 2);
    for (int64_t n = 0; n < p.samples; ++n) {
      const double of_target = LoadF64(target[n]);
      samples[n] = std::isnan(of_target) ? of_target
                                         : ScoredSample(ScoreOf(x, n, p.two_logits), of_target > 0);
    }
  }
};

template <class T, class Target>
struct AucHistograms {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AucParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const Target* target = Data<const Target>(context, i, 1);
    double* histograms = Data<double>(context, i, 2);
    std::fill_n(histograms, 2 * p.bins, 0.0);
    for (int64_t n = 0; n < p.samples; ++n) {
      const double score = ScoreOf(x, n, p.two_logits), of_target = LoadF64(target[n]);
      if (std::isnan(score) || std::isnan(of_target)) {
        histograms[0] = histograms[p.bins] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      const double place = Place(score, p.from_logits) * static_cast<double>(p.bins);
      const int64_t bin = std::min(static_cast<int64_t>(place), p.bins - 1);
      histograms[(of_target > 0 ? p.bins : 0) + bin] += 1;
    }
  }
};

PreparedKernel PrepareAuc(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<AucAttributes>();
  const Shape& x = node.inputs[0].shape;
  return PreparedKernel::Of(
      attributes.bins == 0 ? ForPredictionAndTarget<AucSamples>(node)
                           : ForPredictionAndTarget<AucHistograms>(node),
      AucParameters{x[0].size, attributes.bins, attributes.from_logits, !IsScore(x)});
}

}  // namespace

KernelDef auc() {
  return {.name = "reference.auc", .supports = FirstInputIsFloat, .prepare = PrepareAuc};
}

}  // namespace cgrun::reference
