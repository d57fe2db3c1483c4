// Computes batch_norm, batch_norm_apply and the gradient. Blocks take parts of channels
// (channel_parts.cuh). One kernel sums the parts up, in f64; one joins the sums, a block a channel;
// and one goes through the elements. The last kernel reads an element before it writes the one in
// its place. The others write none, so that all run in place.
#include <cmath>
#include <limits>

#include "src/kernels/cuda/channel_parts.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/batch_norm.h"

namespace cgrun::cuda {

struct BatchNormParameters {
  ChannelParts parts;
  double epsilon = 0;
  double momentum = 0;
  double min = 0;  // y is clipped to [min, max]
  double max = 0;
  bool clips = false;

  __device__ double count() const { return static_cast<double>(parts.elements_of_channel()); }
};

// The two sums belong to a part or to a channel.
struct TwoSums {
  double first = -0.0;  // adding to −0 leaves every number as it is
  double second = -0.0;
};

static __device__ TwoSums SumOverBlock(const TwoSums& own) {
  return {JoinBlock(own.first, JoinSum()), JoinBlock(own.second, JoinSum())};
}

// Returns the sums of a channel by adding those of its parts. All threads of a block call it
// together.
static __device__ TwoSums SumOfParts(const ChannelParts& p, const TwoSums* of_parts,
                                     int64_t channel) {
  TwoSums own;
  for (int64_t part = threadIdx.x; part < p.parts; part += kThreadsPerBlock) {
    own.first += of_parts[channel * p.parts + part].first;
    own.second += of_parts[channel * p.parts + part].second;
  }
  return SumOverBlock(own);
}

// The workspace holds the sums of the parts, and then those of the channels.
static int64_t SumsWorkspace(const ChannelParts& p) {
  return (p.blocks() + p.channels) * static_cast<int64_t>(sizeof(TwoSums));
}

template <class C>
__device__ C InverseDeviation(double variance, double epsilon) {
  return static_cast<C>(1 / std::sqrt(variance + epsilon));
}

// `given` is an inverse deviation that was saved, or a variance.
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
  // Returns whether a gradient of y reaches what was clipped.
  __device__ bool LetsThrough(T x) const {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    const C y = Load((*this)(x));
    return (y > min || y == -kInfinity) && (y < max || y == kInfinity);
  }

  C mean, factor, shift, min, max;
};

// Returns what is subtracted from the elements of a channel before their squares are summed up: its
// first element. If the mean is large, the squares would otherwise say little of the variance.
template <class T>
__device__ double OriginOf(const ChannelParts& p, int64_t channel, const T* x) {
  const double first = LoadF64(x[p.First(channel)]);
  return std::isfinite(first) ? first : 0;
}

// Computes Σ (x − origin) and Σ (x − origin)² of each part.
template <class T, int kCount>
struct BatchSumsBody {
  BatchNormParameters p;
  const T* x;
  TwoSums* of_parts;
  __device__ void operator()(int64_t block) const {
    const double origin = OriginOf(p.parts, block / p.parts.parts, x);
    TwoSums own;
    const auto load = [&](int64_t e) { return LoadPack<kCount>(x + e); };
    p.parts.ForElementsOf<kCount>(block, load, [&](int64_t, const Pack<T, kCount>& pack) {
      for (int k = 0; k < kCount; ++k) {
        const double distance = LoadF64(pack.at[k]) - origin;
        own.first += distance;
        own.second += distance * distance;
      }
    });
    const TwoSums sums = SumOverBlock(own);
    if (threadIdx.x == 0) of_parts[block] = sums;
  }
};

// Mean and deviation of a channel, and its running statistics after this batch.
template <class T>
struct BatchStatisticsBody {
  using C = Compute<T>;
  BatchNormParameters p;
  const T* x;
  const TwoSums* of_parts;
  const C *running_mean, *running_var;
  C *new_mean, *new_var, *saved_mean, *saved_inv_std;

  __device__ C Move(C running, double batch) const {
    return static_cast<C>((1 - p.momentum) * static_cast<double>(running) + p.momentum * batch);
  }

  __device__ void operator()(int64_t c) const {
    const TwoSums sums = SumOfParts(p.parts, of_parts, c);
    if (threadIdx.x != 0) return;
    const double from_origin = sums.first / p.count(), others = p.count() - 1;
    const double mean = OriginOf(p.parts, c, x) + from_origin;
    const double difference = sums.second - sums.first * from_origin;
    const double squares = difference < 0 ? 0 : difference;  // a NaN stays
    new_mean[c] = Move(running_mean[c], mean);
    new_var[c] = Move(running_var[c], squares / (others < 1 ? 1 : others));
    saved_mean[c] = static_cast<C>(mean);
    saved_inv_std[c] = InverseDeviation<C>(squares / p.count(), p.epsilon);
  }
};

// The statistics are given: a mean and a variance, or what training saved.
template <class T, bool kSaved, int kCount>
struct NormalizeBody {
  using C = Compute<T>;
  BatchNormParameters p;
  const T* x;
  const C *scale, *shift, *means, *deviations;
  T* y;
  __device__ void operator()(int64_t block) const {
    const int64_t c = block / p.parts.parts;
    const C inv_std = InverseDeviationOf<kSaved>(deviations[c], p.epsilon);
    const Normalization<T> normalized(p, means[c], inv_std * scale[c], shift[c]);
    const auto load = [&](int64_t e) { return LoadPack<kCount>(x + e); };
    p.parts.ForElementsOf<kCount>(block, load, [&](int64_t e, Pack<T, kCount> pack) {
      for (int k = 0; k < kCount; ++k) pack.at[k] = normalized(pack.at[k]);
      StorePack(y + e, pack);
    });
  }
};

template <class T, bool kSaved>
static void Normalize(const RunContext& context, const BatchNormParameters& p, const T* x,
                      const Compute<T>* scale, const Compute<T>* shift, const Compute<T>* means,
                      const Compute<T>* deviations, T* y) noexcept {
  constexpr int kPack = ChannelParts::kPack;
  if (p.parts.packs()) {
    ForEachPart(context, p.parts,
                NormalizeBody<T, kSaved, kPack>{p, x, scale, shift, means, deviations, y});
  } else {
    ForEachPart(context, p.parts,
                NormalizeBody<T, kSaved, 1>{p, x, scale, shift, means, deviations, y});
  }
}

template <class T>
struct BatchNormTrain {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    TwoSums* of_parts = Data<TwoSums>(context, i, 10);
    if (p.parts.packs()) {
      ForEachPart(context, p.parts, BatchSumsBody<T, ChannelParts::kPack>{p, x, of_parts});
    } else {
      ForEachPart(context, p.parts, BatchSumsBody<T, 1>{p, x, of_parts});
    }
    C *mean = Data<C>(context, i, 8), *inv_std = Data<C>(context, i, 9);
    ForEachGroup(context, p.parts.channels,
                 BatchStatisticsBody<T>{p, x, of_parts, Data<const C>(context, i, 3),
                                        Data<const C>(context, i, 4), Data<C>(context, i, 6),
                                        Data<C>(context, i, 7), mean, inv_std});
    Normalize<T, true>(context, p, x, Data<const C>(context, i, 1), Data<const C>(context, i, 2),
                       mean, inv_std, Data<T>(context, i, 5));
  }
};

template <class T, bool kSaved>
struct BatchNormGiven {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    Normalize<T, kSaved>(context, p, Data<const T>(context, i, 0), Data<const C>(context, i, 1),
                         Data<const C>(context, i, 2), Data<const C>(context, i, 3),
                         Data<const C>(context, i, 4), Data<T>(context, i, 5));
  }
};

template <class T, bool kTraining>
struct BatchNormGradOperands {
  using C = Compute<T>;
  BatchNormParameters p;
  const T *x, *dy;
  const C *scale, *means, *deviations, *shift;  // shift: null where nothing was clipped

  __device__ C InverseDeviationAt(int64_t c) const {
    return InverseDeviationOf<kTraining>(deviations[c], p.epsilon);
  }
  __device__ Normalization<T> NormalizationAt(int64_t c) const {
    return Normalization<T>(p, means[c], scale[c] * InverseDeviationAt(c),
                            shift == nullptr ? C(0) : shift[c]);
  }
  // Holds x and dy of the elements from `e` on.
  template <int kCount>
  struct Loaded {
    Pack<T, kCount> x, dy;
  };
  template <int kCount>
  __device__ Loaded<kCount> LoadFrom(int64_t e) const {
    return {LoadPack<kCount>(x + e), LoadPack<kCount>(dy + e)};
  }
  __device__ T BeforeClip(const Normalization<T>& normalization, T x, T dy) const {
    return shift == nullptr || normalization.LetsThrough(x) ? dy : Store<T>(0);
  }
};

// Computes Σ dy and Σ dy·x̂ of each part.
template <class T, bool kTraining, int kCount>
struct GradSumsBody {
  BatchNormGradOperands<T, kTraining> in;
  TwoSums* of_parts;
  __device__ void operator()(int64_t block) const {
    using C = Compute<T>;
    const int64_t c = block / in.p.parts.parts;
    const C mean = in.means[c], inv_std = in.InverseDeviationAt(c);
    const Normalization<T> normalization = in.NormalizationAt(c);
    TwoSums own;
    const auto load = [&](int64_t e) { return in.template LoadFrom<kCount>(e); };
    in.p.parts.template ForElementsOf<kCount>(block, load, [&](int64_t, const auto& loaded) {
      for (int k = 0; k < kCount; ++k) {
        const T x = loaded.x.at[k];
        const double gradient = LoadF64(in.BeforeClip(normalization, x, loaded.dy.at[k]));
        own.first += gradient;
        own.second += gradient * static_cast<double>((Load(x) - mean) * inv_std);
      }
    });
    const TwoSums sums = SumOverBlock(own);
    if (threadIdx.x == 0) of_parts[block] = sums;
  }
};

template <class C>
struct ParameterGradBody {
  ChannelParts parts;
  const TwoSums* of_parts;
  TwoSums* of_channels;
  C *dscale, *dshift;
  __device__ void operator()(int64_t c) const {
    const TwoSums sums = SumOfParts(parts, of_parts, c);
    if (threadIdx.x != 0) return;
    of_channels[c] = sums;
    dshift[c] = static_cast<C>(sums.first);
    dscale[c] = static_cast<C>(sums.second);
  }
};

template <class T, bool kTraining, int kCount>
struct InputGradBody {
  BatchNormGradOperands<T, kTraining> in;
  const TwoSums* of_channels;
  T* dx;
  __device__ void operator()(int64_t block) const {
    using C = Compute<T>;
    const int64_t c = block / in.p.parts.parts;
    const C mean = in.means[c], inv_std = in.InverseDeviationAt(c);
    const C factor = in.scale[c] * inv_std;
    const Normalization<T> normalization = in.NormalizationAt(c);
    const TwoSums sums = of_channels[c];
    const C mean_sum = kTraining ? static_cast<C>(sums.first / in.p.count()) : C(0);
    const C mean_product = kTraining ? static_cast<C>(sums.second / in.p.count()) : C(0);
    const auto load = [&](int64_t e) { return in.template LoadFrom<kCount>(e); };
    in.p.parts.template ForElementsOf<kCount>(block, load, [&](int64_t e, auto loaded) {
      for (int k = 0; k < kCount; ++k) {
        const T x = loaded.x.at[k];
        const C normalized = kTraining ? (Load(x) - mean) * inv_std : C(0);
        const C gradient = Load(in.BeforeClip(normalization, x, loaded.dy.at[k]));
        loaded.dy.at[k] = Store<T>(factor * (gradient - mean_sum - normalized * mean_product));
      }
      StorePack(dx + e, loaded.dy);
    });
  }
};

template <class T, bool kTraining, int kCount>
static void RunGrad(const RunContext& context, const BatchNormGradOperands<T, kTraining>& in, T* dx,
                    Compute<T>* dscale, Compute<T>* dshift, TwoSums* of_parts) noexcept {
  const ChannelParts& parts = in.p.parts;
  TwoSums* of_channels = of_parts + parts.blocks();
  ForEachPart(context, parts, GradSumsBody<T, kTraining, kCount>{in, of_parts});
  ForEachGroup(context, parts.channels,
               ParameterGradBody<Compute<T>>{parts, of_parts, of_channels, dscale, dshift});
  ForEachPart(context, parts, InputGradBody<T, kTraining, kCount>{in, of_channels, dx});
}

template <class T, bool kTraining>
struct BatchNormGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    using C = Compute<T>;
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    const int inputs = p.clips ? 6 : 5;
    const BatchNormGradOperands<T, kTraining> in{p,
                                                 Data<const T>(context, i, 0),
                                                 Data<const T>(context, i, 1),
                                                 Data<const C>(context, i, 2),
                                                 Data<const C>(context, i, 3),
                                                 Data<const C>(context, i, 4),
                                                 p.clips ? Data<const C>(context, i, 5) : nullptr};
    const auto run =
        p.parts.packs() ? &RunGrad<T, kTraining, ChannelParts::kPack> : &RunGrad<T, kTraining, 1>;
    run(context, in, Data<T>(context, i, inputs), Data<C>(context, i, inputs + 1),
        Data<C>(context, i, inputs + 2), Data<TwoSums>(context, i, inputs + 3));
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
  return {ChannelParts::Of(node.inputs[0].shape),
          attributes.epsilon,
          attributes.momentum,
          attributes.min,
          attributes.max,
          attributes.clips()};
}

static bool IsTraining(const NodeSignature& node) {
  return node.attributes.As<BatchNormAttributes>().training;
}

static int64_t BatchNormWorkspace(const NodeSignature& node, int) {
  return IsTraining(node) ? SumsWorkspace(ChannelParts::Of(node.inputs[0].shape)) : 0;
}
static int64_t BatchNormGradWorkspace(const NodeSignature& node, int) {
  return SumsWorkspace(ChannelParts::Of(node.inputs[0].shape));
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
  return {.name = "cuda.batch_norm",
          .supports = FirstInputIsFloat,
          .workspace_bytes = BatchNormWorkspace,
          .prepare = PrepareBatchNorm};
}
KernelDef batch_norm_apply() {
  return {.name = "cuda.batch_norm_apply",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormApply};
}
KernelDef batch_norm_grad() {
  return {.name = "cuda.batch_norm_grad",
          .supports = FirstInputIsFloat,
          .workspace_bytes = BatchNormGradWorkspace,
          .prepare = PrepareBatchNormGrad};
}

}  // namespace cgrun::cuda
