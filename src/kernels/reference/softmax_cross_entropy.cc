// softmax_cross_entropy and its gradient, label by label, in f64.
#include <cmath>
#include <limits>

#include "src/kernels/reference/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/labels.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Parameters {
  AxisGroups groups;  // of classes
  double smoothing = 0;
};

template <class T>
using LossOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The largest logit of a group, and of the others relative to it: Σ e^x and Σ x.
struct GroupSums {
  double max = 0;
  double exponentials = 0;
  double differences = 0;
};

template <class T>
GroupSums Sums(const T* x, const AxisGroups& groups) {
  GroupSums sums{LoadF64(x[0]), 0, 0};
  for (int64_t c = 1; c < groups.size; ++c) {
    sums.max = std::fmax(sums.max, LoadF64(x[c * groups.stride]));
  }
  for (int64_t c = 0; c < groups.size; ++c) {
    const double difference = LoadF64(x[c * groups.stride]) - sums.max;
    sums.exponentials += std::exp(difference);
    sums.differences += difference;
  }
  return sums;
}

// −Σ t·ln p. A factor of 0 takes part in no product: 0·∞ would be NaN.
double CrossEntropy(const GroupSums& sums, double label_logit, const Parameters& p) {
  const double log_sum = std::log(sums.exponentials);
  const double classes = static_cast<double>(p.groups.size);
  double loss = 0;
  if (p.smoothing < 1) loss += (1 - p.smoothing) * (log_sum - (label_logit - sums.max));
  if (p.smoothing > 0) loss += p.smoothing * (log_sum - sums.differences / classes);
  return loss;
}

template <class T, class Label>
struct Loss {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const Label* labels = Data<const Label>(context, i, 1);
    double total = 0;
    for (int64_t g = 0; g < p.groups.count; ++g) {
      const T* x = Data<const T>(context, i, 0) + p.groups.First(g);
      T* probabilities = Data<T>(context, i, 3) + p.groups.First(g);
      const GroupSums sums = Sums(x, p.groups);
      const auto label = static_cast<int64_t>(labels[g]);
      const bool known = label >= 0 && label < p.groups.size;
      total += known ? CrossEntropy(sums, LoadF64(x[label * p.groups.stride]), p) : kNaN;
      for (int64_t c = 0; c < p.groups.size; ++c) {
        const int64_t at = c * p.groups.stride;
        probabilities[at] = StoreF64<T>(std::exp(LoadF64(x[at]) - sums.max) / sums.exponentials);
      }
    }
    *Data<LossOf<T>>(context, i, 2) =
        static_cast<LossOf<T>>(total / static_cast<double>(p.groups.count));
  }
};

template <class T, class Label>
struct Grad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const Label* labels = Data<const Label>(context, i, 1);
    const double dloss = static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) /
                         static_cast<double>(p.groups.count);
    const double everywhere = p.smoothing / static_cast<double>(p.groups.size);
    for (int64_t g = 0; g < p.groups.count; ++g) {
      const T* probabilities = Data<const T>(context, i, 0) + p.groups.First(g);
      T* dx = Data<T>(context, i, 3) + p.groups.First(g);
      const auto label = static_cast<int64_t>(labels[g]);
      const bool known = label >= 0 && label < p.groups.size;
      for (int64_t c = 0; c < p.groups.size; ++c) {
        const int64_t at = c * p.groups.stride;
        const double target = everywhere + (c == label ? 1 - p.smoothing : 0);
        dx[at] = StoreF64<T>(known ? (LoadF64(probabilities[at]) - target) * dloss : kNaN);
      }
    }
  }
};

template <template <class, class> class Kernel>
PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<SoftmaxCrossEntropyAttributes>();
  return PreparedKernel::Of(
      ForLogitsAndLabels<Kernel>(node),
      Parameters{GroupsAlong(node.inputs[0].shape, 1), attributes.label_smoothing});
}

}  // namespace

KernelDef softmax_cross_entropy() {
  return {.name = "reference.softmax_cross_entropy",
          .supports = HasReferenceLogits,
          .prepare = Prepare<Loss>};
}

KernelDef softmax_cross_entropy_grad() {
  return {.name = "reference.softmax_cross_entropy_grad",
          .supports = HasReferenceLogits,
          .prepare = Prepare<Grad>};
}

}  // namespace cgrun::reference
