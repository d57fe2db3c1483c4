// batch_norm, its result again, and its gradient: a block a channel, sums in f64. A channel is read
// to its end before its first element is written, and each element before the one in its place, so
// that all run in place.
#include <cmath>
#include <limits>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/batch_norm.h"

namespace cgrun::cuda {

// x seen as [images, channels, plane].
struct BatchNormParameters {
  int64_t images = 0;
  int64_t channels = 0;
  int64_t plane = 0;
  double epsilon = 0;
  double momentum = 0;
  double min = 0;  // y is clipped to [min, max]
  double max = 0;
  bool clips = false;

  __device__ int64_t in_channel() const { return images * plane; }
  __device__ double count() const { return static_cast<double>(in_channel()); }
  // Where element `i` of a channel lies.
  __device__ int64_t At(int64_t channel, int64_t i) const {
    return (i / plane * channels + channel) * plane + i % plane;
  }
};

template <class C>
__device__ C InverseDeviation(double variance, double epsilon) {
  return static_cast<C>(1 / std::sqrt(variance + epsilon));
}

// Of what is given: an inverse deviation that was saved, or a variance.
template <bool kSaved, class C>
__device__ C InverseDeviationOf(C given, double epsilon) {
  return kSaved ? given : InverseDeviation<C>(static_cast<double>(given), epsilon);
}

// y = (x − mean)·factor + shift of one channel, clipped as the operator clip does it.
template <class T>
struct Normalization {
  using C = Compute<T>;

  __device__ Normalization(const BatchNormParameters& p, C mean, C factor, C shift)
      : mean(mean),
        factor(factor),
        shift(shift),
        min(Load(StoreF64<T>(p.min))),
        max(Load(StoreF64<T>(p.max))) {}

  __device__ T operator()(T x) const {
    const C y = Load(Store<T>((Load(x) - mean) * factor + shift));
    return Store<T>(y < min ? min : y > max ? max : y);
  }
  // Whether a gradient of y reaches what was clipped.
  __device__ bool LetsThrough(T x) const {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    const C y = Load((*this)(x));
    return (y > min || y == -kInfinity) && (y < max || y == kInfinity);
  }

  C mean, factor, shift, min, max;
};

template <class T>
__device__ void NormalizeChannel(const BatchNormParameters& p, int64_t channel, const T* x,
                                 const Normalization<T>& normalized, T* y) {
  for (int64_t i = threadIdx.x; i < p.in_channel(); i += kThreadsPerBlock) {
    const int64_t e = p.At(channel, i);
    y[e] = normalized(x[e]);
  }
}

template <class T>
struct BatchNormTrainBody {
  using C = Compute<T>;
  BatchNormParameters p;
  const T* x;
  const C *scale, *shift, *running_mean, *running_var;
  T* y;
  C *new_mean, *new_var, *saved_mean, *saved_inv_std;

  // A running statistic after this batch.
  __device__ C Move(C running, double batch) const {
    return static_cast<C>((1 - p.momentum) * static_cast<double>(running) + p.momentum * batch);
  }

  __device__ void operator()(int64_t c) const {
    const double sum =
        SumOverBlock(p.in_channel(), [&](int64_t i) { return LoadF64(x[p.At(c, i)]); });
    const double mean = sum / p.count();
    const double squares = SumOverBlock(p.in_channel(), [&](int64_t i) {
      const double distance = LoadF64(x[p.At(c, i)]) - mean;
      return distance * distance;
    });
    const C inv_std = InverseDeviation<C>(squares / p.count(), p.epsilon);
    if (threadIdx.x == 0) {
      const double others = p.count() - 1;
      new_mean[c] = Move(running_mean[c], mean);
      new_var[c] = Move(running_var[c], squares / (others < 1 ? 1 : others));
      saved_mean[c] = static_cast<C>(mean);
      saved_inv_std[c] = inv_std;
    }
    NormalizeChannel(p, c, x,
                     Normalization<T>(p, static_cast<C>(mean), inv_std * scale[c], shift[c]), y);
  }
};

template <class T>
struct BatchNormTrain {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    ForEachGroup(context, p.channels,
                 BatchNormTrainBody<T>{
                     p, Data<const T>(context, i, 0), Data<const C>(context, i, 1),
                     Data<const C>(context, i, 2), Data<const C>(context, i, 3),
                     Data<const C>(context, i, 4), Data<T>(context, i, 5), Data<C>(context, i, 6),
                     Data<C>(context, i, 7), Data<C>(context, i, 8), Data<C>(context, i, 9)});
  }
};

// With statistics that are given: a mean and a variance, or what training saved.
template <class T, bool kSaved>
struct BatchNormGivenBody {
  using C = Compute<T>;
  BatchNormParameters p;
  const T* x;
  const C *scale, *shift, *means, *deviations;
  T* y;
  __device__ void operator()(int64_t c) const {
    const C inv_std = InverseDeviationOf<kSaved>(deviations[c], p.epsilon);
    NormalizeChannel(p, c, x, Normalization<T>(p, means[c], inv_std * scale[c], shift[c]), y);
  }
};

template <class T, bool kSaved>
struct BatchNormGiven {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    ForEachGroup(
        context, p.channels,
        BatchNormGivenBody<T, kSaved>{p, Data<const T>(context, i, 0), Data<const C>(context, i, 1),
                                      Data<const C>(context, i, 2), Data<const C>(context, i, 3),
                                      Data<const C>(context, i, 4), Data<T>(context, i, 5)});
  }
};

template <class T, bool kTraining>
struct BatchNormGradBody {
  using C = Compute<T>;
  BatchNormParameters p;
  const T *x, *dy;
  const C *scale, *means, *deviations, *shift;  // shift: null where nothing was clipped
  T* dx;
  C *dscale, *dshift;

  __device__ T BeforeClip(const Normalization<T>& normalization, int64_t e) const {
    return shift == nullptr || normalization.LetsThrough(x[e]) ? dy[e] : Store<T>(0);
  }

  __device__ void operator()(int64_t c) const {
    const C mean = means[c];
    const C inv_std = InverseDeviationOf<kTraining>(deviations[c], p.epsilon);
    const C factor = scale[c] * inv_std;
    const Normalization<T> normalization(p, mean, factor, shift == nullptr ? C(0) : shift[c]);
    const double sum = SumOverBlock(
        p.in_channel(), [&](int64_t i) { return LoadF64(BeforeClip(normalization, p.At(c, i))); });
    const double product = SumOverBlock(p.in_channel(), [&](int64_t i) {
      const int64_t e = p.At(c, i);
      return LoadF64(BeforeClip(normalization, e)) *
             static_cast<double>((Load(x[e]) - mean) * inv_std);
    });
    if (threadIdx.x == 0) {
      dshift[c] = static_cast<C>(sum);
      dscale[c] = static_cast<C>(product);
    }
    const C mean_sum = kTraining ? static_cast<C>(sum / p.count()) : C(0);
    const C mean_product = kTraining ? static_cast<C>(product / p.count()) : C(0);
    for (int64_t i = threadIdx.x; i < p.in_channel(); i += kThreadsPerBlock) {
      const int64_t e = p.At(c, i);
      const C normalized = kTraining ? (Load(x[e]) - mean) * inv_std : C(0);
      const C gradient = Load(BeforeClip(normalization, e));
      dx[e] = Store<T>(factor * (gradient - mean_sum - normalized * mean_product));
    }
  }
};

template <class T, bool kTraining>
struct BatchNormGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    const int inputs = p.clips ? 6 : 5;
    ForEachGroup(context, p.channels,
                 BatchNormGradBody<T, kTraining>{
                     p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                     Data<const C>(context, i, 2), Data<const C>(context, i, 3),
                     Data<const C>(context, i, 4), p.clips ? Data<const C>(context, i, 5) : nullptr,
                     Data<T>(context, i, inputs), Data<C>(context, i, inputs + 1),
                     Data<C>(context, i, inputs + 2)});
  }
};

template <class T>
using BatchNormInfer = BatchNormGiven<T, /*kSaved=*/false>;
template <class T>
using BatchNormApply = BatchNormGiven<T, /*kSaved=*/true>;
template <class T>
using GradOfBatch = BatchNormGrad<T, true>;
template <class T>
using GradOfFrozen = BatchNormGrad<T, false>;

static BatchNormParameters PackBatchNorm(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<BatchNormAttributes>();
  const Shape& x = node.inputs[0].shape;
  const int64_t plane = x.Elements() / (x[0].size * x[1].size);
  return {x[0].size,           x[1].size,      plane,          attributes.epsilon,
          attributes.momentum, attributes.min, attributes.max, attributes.clips()};
}

static bool IsTraining(const NodeSignature& node) {
  return node.attributes.As<BatchNormAttributes>().training;
}

static PreparedKernel PrepareBatchNorm(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsTraining(request.node) ? ForFloat<BatchNormTrain>(dtype) : ForFloat<BatchNormInfer>(dtype),
      PackBatchNorm(request.node));
}

static PreparedKernel PrepareBatchNormApply(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<BatchNormApply>(request.node.inputs[0].dtype),
                            PackBatchNorm(request.node));
}

static PreparedKernel PrepareBatchNormGrad(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsTraining(request.node) ? ForFloat<GradOfBatch>(dtype) : ForFloat<GradOfFrozen>(dtype),
      PackBatchNorm(request.node));
}

KernelDef batch_norm() {
  return {.name = "cuda.batch_norm", .supports = FirstInputIsFloat, .prepare = PrepareBatchNorm};
}
KernelDef batch_norm_apply() {
  return {.name = "cuda.batch_norm_apply",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormApply};
}
KernelDef batch_norm_grad() {
  return {.name = "cuda.batch_norm_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormGrad};
}

}  // namespace cgrun::cuda
