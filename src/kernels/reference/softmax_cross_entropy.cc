// Computes softmax_cross_entropy and its gradient, label by label, in f64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct SoftmaxCrossEntropyParameters {
  AxisGroups groups;  // of classes
  double smoothing = 0;
  RealList weights;  // of classes; empty: 1 each
  IntList ignored;   // labels

  bool Ignores(int64_t label) const { return std::ranges::find(ignored, label) != ignored.end(); }
  // Weight times target of class `c`.
  double Target(int64_t c, int64_t label) const {
    const double target =
        smoothing / static_cast<double>(groups.size) + (c == label ? 1 - smoothing : 0);
    return weights.empty() ? target : weights[static_cast<size_t>(c)] * target;
  }
  // Returns the sum of the targets over the classes.
  double TargetSum(int64_t label) const {
    if (weights.empty()) return 1;
    double sum = 0;
    for (int64_t c = 0; c < groups.size; ++c) sum += Target(c, label);
    return sum;
  }
};

// Holds the largest logit of a group, and two sums over the group: Σ e^(x − max) and Σ (x − max).
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
double CrossEntropy(const GroupSums& sums, double label_logit,
                    const SoftmaxCrossEntropyParameters& p) {
  const double log_sum = std::log(sums.exponentials);
  const double classes = static_cast<double>(p.groups.size);
  double loss = 0;
  if (p.smoothing < 1) loss += (1 - p.smoothing) * (log_sum - (label_logit - sums.max));
  if (p.smoothing > 0) loss += p.smoothing * (log_sum - sums.differences / classes);
  return loss;
}

// −Σ w·t·ln p, class by class; as above a factor of 0 takes part in no product.
template <class T>
double WeightedCrossEntropy(const GroupSums& sums, const T* x, int64_t label,
                            const SoftmaxCrossEntropyParameters& p) {
  const double log_sum = std::log(sums.exponentials);
  double loss = 0;
  for (int64_t c = 0; c < p.groups.size; ++c) {
    const double target = p.Target(c, label);
    if (target != 0) loss += target * (log_sum - (LoadF64(x[c * p.groups.stride]) - sums.max));
  }
  return loss;
}

template <class T>
double LossOfGroup(const GroupSums& sums, const T* x, int64_t label,
                   const SoftmaxCrossEntropyParameters& p) {
  if (!p.weights.empty()) return WeightedCrossEntropy(sums, x, label, p);
  return CrossEntropy(sums, LoadF64(x[label * p.groups.stride]), p);
}

template <class T, class Label>
struct SoftmaxCrossEntropyLoss {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SoftmaxCrossEntropyParameters*>(i.parameters);
    const Label* labels = Data<const Label>(context, i, 1);
    double total = 0;
    for (int64_t g = 0; g < p.groups.count; ++g) {
      const T* x = Data<const T>(context, i, 0) + p.groups.First(g);
      T* probabilities = Data<T>(context, i, 3) + p.groups.First(g);
      const GroupSums sums = Sums(x, p.groups);
      const auto label = static_cast<int64_t>(labels[g]);
      const bool known = label >= 0 && label < p.groups.size;
      if (!p.Ignores(label)) total += known ? LossOfGroup(sums, x, label, p) : kNaN;
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
struct SoftmaxCrossEntropyGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SoftmaxCrossEntropyParameters*>(i.parameters);
    const Label* labels = Data<const Label>(context, i, 1);
    const double dloss = static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) /
                         static_cast<double>(p.groups.count);
    for (int64_t g = 0; g < p.groups.count; ++g) {
      const T* probabilities = Data<const T>(context, i, 0) + p.groups.First(g);
      T* dx = Data<T>(context, i, 3) + p.groups.First(g);
      const auto label = static_cast<int64_t>(labels[g]);
      const bool known = label >= 0 && label < p.groups.size;
      const bool ignored = p.Ignores(label);
      const double whole = p.TargetSum(label);
      for (int64_t c = 0; c < p.groups.size; ++c) {
        const int64_t at = c * p.groups.stride;
        const double slope = LoadF64(probabilities[at]) * whole - p.Target(c, label);
        dx[at] = StoreF64<T>(ignored ? 0 : known ? slope * dloss : kNaN);
      }
    }
  }
};

template <template <class, class> class Kernel>
PreparedKernel PrepareSoftmaxCrossEntropy(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<SoftmaxCrossEntropyAttributes>();
  return PreparedKernel::Of(ForLogitsAndLabels<Kernel>(node),
                            SoftmaxCrossEntropyParameters{
                                GroupsAlong(node.inputs[0].shape, 1), attributes.label_smoothing,
                                attributes.class_weights, attributes.ignore_label});
}

}  // namespace

KernelDef softmax_cross_entropy() {
  return {.name = "reference.softmax_cross_entropy",
          .supports = FirstInputIsFloat,
          .prepare = PrepareSoftmaxCrossEntropy<SoftmaxCrossEntropyLoss>};
}

KernelDef softmax_cross_entropy_grad() {
  return {.name = "reference.softmax_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareSoftmaxCrossEntropy<SoftmaxCrossEntropyGrad>};
}

}  // namespace cgrun::reference
