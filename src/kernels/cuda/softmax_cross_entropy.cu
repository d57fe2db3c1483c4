// Computes softmax_cross_entropy and its gradient in f64, a block a label. The losses of the labels
// lie in the workspace before one block adds them up.
#include <cmath>
#include <limits>

#include "src/kernels/cuda/device_table.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/softmax_group.cuh"
#include "src/ops/loss.h"

namespace cgrun::cuda {

// Describes the targets to the GPU.
struct CrossEntropyTargets {
  AxisGroups groups;  // of classes
  double smoothing;
  const double* weights;  // of classes; null: 1 each
  const int64_t* ignored;
  int64_t ignored_count;

  __device__ bool Ignores(int64_t label) const {
    for (int64_t i = 0; i < ignored_count; ++i) {
      if (ignored[i] == label) return true;
    }
    return false;
  }
  __device__ bool Knows(int64_t label) const { return label >= 0 && label < groups.size; }
  // Weight times target of class `c`.
  __device__ double Target(int64_t c, int64_t label) const {
    const double target =
        smoothing / static_cast<double>(groups.size) + (c == label ? 1 - smoothing : 0);
    return weights == nullptr ? target : weights[c] * target;
  }
};

struct CrossEntropyParameters {
  AxisGroups groups;
  double smoothing = 0;
  DeviceTable<double> weights;
  DeviceTable<int64_t> ignored;

  CrossEntropyTargets targets() const {
    return {groups, smoothing, weights.data(), ignored.data(), ignored.size()};
  }
};

template <class T, class Label>
struct CrossEntropyBody {
  CrossEntropyTargets p;
  const T* logits;
  const Label* labels;
  T* probabilities;
  double* losses;  // of each label

  // −Σ t·ln p. A factor of 0 takes part in no product: 0·∞ would be NaN.
  __device__ double Unweighted(const SoftmaxSums& sums, double label_logit) const {
    const double log_sum = std::log(sums.exponentials);
    const double classes = static_cast<double>(p.groups.size);
    double loss = 0;
    if (p.smoothing < 1) loss += (1 - p.smoothing) * (log_sum - (label_logit - sums.max));
    if (p.smoothing > 0) loss += p.smoothing * (log_sum - sums.differences / classes);
    return loss;
  }

  // Computes −Σ w·t·ln p, class by class.
  __device__ double Weighted(const SoftmaxSums& sums, const T* x, int64_t label) const {
    const double log_sum = std::log(sums.exponentials);
    double loss = 0;
    for (int64_t c = threadIdx.x; c < p.groups.size; c += kThreadsPerBlock) {
      const double target = p.Target(c, label);
      if (target != 0) loss += target * (log_sum - (LoadF64(x[c * p.groups.stride]) - sums.max));
    }
    return JoinBlock(loss, JoinSum());
  }

  __device__ void operator()(int64_t g) const {
    const int64_t first = FirstOf(p.groups, g);
    const T* x = logits + first;
    const SoftmaxSums sums = SumsOfGroup(x, p.groups);
    const auto label = static_cast<int64_t>(labels[g]);
    double loss = std::numeric_limits<double>::quiet_NaN();
    if (p.Knows(label)) {
      loss = p.weights != nullptr ? Weighted(sums, x, label)
                                  : Unweighted(sums, LoadF64(x[label * p.groups.stride]));
    }
    if (threadIdx.x == 0) losses[g] = p.Ignores(label) ? 0 : loss;
    __syncthreads();  // the probabilities may lie over the logits
    for (int64_t c = threadIdx.x; c < p.groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * p.groups.stride;
      probabilities[at] = StoreF64<T>(std::exp(LoadF64(logits[at]) - sums.max) / sums.exponentials);
    }
    __syncthreads();
  }
};

template <class Loss>
struct MeanOfLossesBody {
  const double* losses;
  int64_t count;
  Loss* loss;
  __device__ void operator()(int64_t) const {
    const double sum = SumOverBlock(count, [&](int64_t i) { return losses[i]; });
    if (threadIdx.x == 0) *loss = static_cast<Loss>(sum / static_cast<double>(count));
  }
};

template <class T, class Label>
struct CrossEntropy {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CrossEntropyParameters*>(i.parameters);
    double* losses = Data<double>(context, i, 4);
    ForEachGroup(context, p.groups.count,
                 CrossEntropyBody<T, Label>{p.targets(), Data<const T>(context, i, 0),
                                            Data<const Label>(context, i, 1),
                                            Data<T>(context, i, 3), losses});
    ForEachGroup(
        context, 1,
        MeanOfLossesBody<LossOf<T>>{losses, p.groups.count, Data<LossOf<T>>(context, i, 2)});
  }
};

template <class T, class Label>
struct CrossEntropyGradBody {
  CrossEntropyTargets p;
  const T* probabilities;
  const Label* labels;
  const LossOf<T>* gradient;  // of the loss
  T* dx;

  __device__ void operator()(int64_t g) const {
    const double dloss = static_cast<double>(*gradient) / static_cast<double>(p.groups.count);
    const auto label = static_cast<int64_t>(labels[g]);
    const bool ignored = p.Ignores(label);
    double whole = 1;  // the sum of the targets
    if (p.weights != nullptr) {
      whole = SumOverBlock(p.groups.size, [&](int64_t c) { return p.Target(c, label); });
    }
    const int64_t first = FirstOf(p.groups, g);
    for (int64_t c = threadIdx.x; c < p.groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * p.groups.stride;
      const double slope = LoadF64(probabilities[at]) * whole - p.Target(c, label);
      const double known =
          p.Knows(label) ? slope * dloss : std::numeric_limits<double>::quiet_NaN();
      dx[at] = StoreF64<T>(ignored ? 0 : known);
    }
  }
};

template <class T, class Label>
struct CrossEntropyGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CrossEntropyParameters*>(i.parameters);
    ForEachGroup(context, p.groups.count,
                 CrossEntropyGradBody<T, Label>{
                     p.targets(), Data<const T>(context, i, 0), Data<const Label>(context, i, 1),
                     Data<const LossOf<T>>(context, i, 2), Data<T>(context, i, 3)});
  }
};

template <template <class, class> class Kernel>
static PreparedKernel PrepareCrossEntropy(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<SoftmaxCrossEntropyAttributes>();
  return PreparedKernel::Of(
      ForLogitsAndLabels<Kernel>(node),
      CrossEntropyParameters{GroupsAlong(node.inputs[0].shape, 1), attributes.label_smoothing,
                             DeviceTable<double>(attributes.class_weights),
                             DeviceTable<int64_t>(attributes.ignore_label)});
}

// The workspace holds the losses of the labels.
static int64_t CrossEntropyWorkspace(const NodeSignature& node, int) {
  return node.inputs[1].shape.Elements() * static_cast<int64_t>(sizeof(double));
}

KernelDef softmax_cross_entropy() {
  return {.name = "cuda.softmax_cross_entropy",
          .supports = FirstInputIsFloat,
          .workspace_bytes = CrossEntropyWorkspace,
          .prepare = PrepareCrossEntropy<CrossEntropy>};
}
KernelDef softmax_cross_entropy_grad() {
  return {.name = "cuda.softmax_cross_entropy_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareCrossEntropy<CrossEntropyGrad>};
}

}  // namespace cgrun::cuda
