// softmax_cross_entropy and its gradient, f32, where the classes are the last axis. The workspace
// holds each label's loss until they are added in order.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/softmax_cross_entropy.cc"
#include <hwy/foreach_target.h>
//
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/labels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/softmax_row.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

struct Parameters {
  int64_t rows = 0;
  int64_t classes = 0;
  double smoothing = 0;
  LabelReader label = nullptr;
  RealList weights;  // of classes; empty: 1 each
  IntList ignored;   // labels
  double mean_weight = 1;
  int threads = 1;

  bool Ignores(int64_t label) const { return std::ranges::find(ignored, label) != ignored.end(); }
  double Weight(int64_t c) const { return weights.empty() ? 1 : weights[static_cast<size_t>(c)]; }
  double WeightedTarget(int64_t c, int64_t of) const {
    return Weight(c) * (smoothing / static_cast<double>(classes) + (c == of ? 1 - smoothing : 0));
  }
};

// Σ w·(x − max), w being the class weights. A weight of 0 takes part in no product.
double WeightedDifferences(const RealList& weights, const float* x, float max) {
  double sum = 0;
  for (size_t c = 0; c < weights.size(); ++c) {
    if (weights[c] == 0) continue;
    sum += weights[c] * (static_cast<double>(x[c]) - static_cast<double>(max));
  }
  return sum;
}

// Σ (x − max).
double Differences(const float* x, int64_t count, float max) {
  const F32 d;
  const VF32 largest = hn::Set(d, max);
  Sum sum;
  int64_t e = 0;
  for (; e + kLanes <= count; e += kLanes) sum.Add(hn::Sub(hn::LoadU(d, x + e), largest));
  if (e < count) sum.Add(hn::Sub(LoadFirstOr(d, x + e, count - e, largest), largest));
  return sum.Total();
}

// Turns logits into probabilities; returns −Σ w·t·ln p, 0 for an ignored label. A factor of 0 takes
// part in no product: 0·∞ would be NaN. x may be the probabilities' place.
double LossOfRow(const Parameters& p, const float* x, int64_t label, float* probabilities) {
  const float max = LargestOf(x, p.classes);
  const bool known = label >= 0 && label < p.classes;
  const double distance = known ? static_cast<double>(x[label]) - static_cast<double>(max)
                                : std::numeric_limits<double>::quiet_NaN();
  double differences = 0;
  if (p.smoothing > 0) {
    differences =
        p.weights.empty() ? Differences(x, p.classes, max) : WeightedDifferences(p.weights, x, max);
  }
  const double sum = StoreExponentials(x, p.classes, max, probabilities);
  MultiplyRow(probabilities, p.classes, static_cast<float>(1 / sum));
  if (p.Ignores(label)) return 0;
  if (!known) return distance;
  const double log_sum = std::log(sum), of_label = (1 - p.smoothing) * p.Weight(label);
  const double everywhere = p.smoothing * p.mean_weight;
  double loss = 0;
  if (of_label > 0) loss += of_label * (log_sum - distance);
  if (everywhere > 0) {
    loss += p.smoothing * (p.mean_weight * log_sum - differences / static_cast<double>(p.classes));
  }
  return loss;
}

void Loss(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  float* probabilities = Data<float>(context, i, 3);
  double* losses = Data<double>(context, i, 4);
  Split(p.threads, p.rows, 1, [&, x, labels, probabilities, losses](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * p.classes;
      losses[row] = LossOfRow(p, x + at, p.label(labels, row), probabilities + at);
    }
  });
  double total = 0;
  for (int64_t row = 0; row < p.rows; ++row) total += losses[row];
  *Data<float>(context, i, 2) = static_cast<float>(total / static_cast<double>(p.rows));
}

// dx = (p·Σ w·t − w·t)·dloss.
void WeightedGradOfRow(const Parameters& p, const float* probabilities, int64_t label, double dloss,
                       float* dx) {
  double whole = 0;
  for (int64_t c = 0; c < p.classes; ++c) whole += p.WeightedTarget(c, label);
  for (int64_t c = 0; c < p.classes; ++c) {
    const double slope = static_cast<double>(probabilities[c]) * whole - p.WeightedTarget(c, label);
    dx[c] = static_cast<float>(slope * dloss);
  }
}

// dx = (p − everywhere)·dloss, but for the label's.
void GradOfRow(const Parameters& p, const float* probabilities, int64_t label, double dloss,
               float* dx) {
  if (p.Ignores(label)) {
    std::fill_n(dx, p.classes, 0.0F);
    return;
  }
  const bool known = label >= 0 && label < p.classes;
  if (!known) {
    std::fill_n(dx, p.classes, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  if (!p.weights.empty()) return WeightedGradOfRow(p, probabilities, label, dloss, dx);
  const double everywhere = p.smoothing / static_cast<double>(p.classes);
  const double target = everywhere + 1 - p.smoothing;
  const auto of_label =
      static_cast<float>((static_cast<double>(probabilities[label]) - target) * dloss);
  const F32 d;
  const VF32 shift = hn::Set(d, static_cast<float>(everywhere));
  const VF32 factor = hn::Set(d, static_cast<float>(dloss));
  int64_t e = 0;
  for (; e + kLanes <= p.classes; e += kLanes) {
    hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(d, probabilities + e), shift), factor), d, dx + e);
  }
  if (const int64_t rest = p.classes - e; rest > 0) {
    const VF32 last = hn::Sub(LoadFirst(d, probabilities + e, rest), shift);
    StoreFirst(d, hn::Mul(last, factor), dx + e, rest);
  }
  dx[label] = of_label;
}

void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* probabilities = Data<const float>(context, i, 0);
  const auto* labels = Data<const std::byte>(context, i, 1);
  const double dloss =
      static_cast<double>(*Data<const float>(context, i, 2)) / static_cast<double>(p.rows);
  float* dx = Data<float>(context, i, 3);
  Split(p.threads, p.rows, 1, [&, probabilities, labels, dx](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * p.classes;
      GradOfRow(p, probabilities + at, p.label(labels, row), dloss, dx + at);
    }
  });
}

bool Supports(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 && node.inputs[0].shape.rank() == 2;
}

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  return node.inputs[0].shape[0].size * static_cast<int64_t>(sizeof(double));
}

template <void (*kRun)(const RunContext&, const Instruction&) noexcept>
PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& x = node.inputs[0].shape;
  const auto& attributes = node.attributes.As<SoftmaxCrossEntropyAttributes>();
  const RealList& weights = attributes.class_weights;
  Parameters p{x[0].size,
               x[1].size,
               attributes.label_smoothing,
               LabelReaderOf(node.inputs[1].dtype),
               weights,
               attributes.ignore_label};
  p.threads = ThreadsFor(request, Work::kComputes);
  if (!weights.empty()) {
    p.mean_weight =
        std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(p.classes);
  }
  return PreparedKernel::Of(kRun, std::move(p));
}

KernelDef softmax_cross_entropy() {
  return PerElement({.name = "cpu.softmax_cross_entropy",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare<&Loss>});
}

KernelDef softmax_cross_entropy_grad() {
  return PerElement(
      {.name = "cpu.softmax_cross_entropy_grad", .supports = Supports, .prepare = Prepare<&Grad>});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(softmax_cross_entropy)
CGRUN_CPU_KERNEL(softmax_cross_entropy_grad)

}  // namespace cgrun::cpu
#endif
