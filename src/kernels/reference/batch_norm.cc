// Computes batch_norm, batch_norm_apply and the gradient, and the same with a tensor that is added
// to the result. It goes channel by channel, with sums in f64. Each element is read before the one
// in its place is written, so that all can run in place.
#include "src/ops/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

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
  bool two_parts = false;  // of dy, for batch_norm_add_grad

  double count() const { return static_cast<double>(images * plane); }
};

// Calls f(element) for the elements of one channel, in index order.
template <class F>
void ForChannel(const BatchNormParameters& p, int64_t channel, F f) {
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t first = (n * p.channels + channel) * p.plane;
    for (int64_t e = first; e < first + p.plane; ++e) f(e);
  }
}

template <class C>
C InverseDeviation(double variance, double epsilon) {
  return static_cast<C>(1 / std::sqrt(variance + epsilon));
}

// `given` is an inverse deviation that was saved, or a variance.
template <bool kSaved, class C>
C InverseDeviationOf(C given, double epsilon) {
  return kSaved ? given : InverseDeviation<C>(static_cast<double>(given), epsilon);
}

// y = (x − mean)·factor + shift of one channel, clipped as the operator clip does it.
template <class T, class C = Compute<T>>
struct Normalization {
  Normalization(const BatchNormParameters& p, C mean, C factor, C shift)
      : mean(mean), factor(factor), shift(shift), min(BoundOf(p.min)), max(BoundOf(p.max)) {}

  T operator()(T x) const { return Clipped(BeforeClip(x)); }
  T operator()(T x, T addend) const {
    return Clipped(Store<T>(Load(BeforeClip(x)) + Load(addend)));
  }
  // Returns whether a gradient of y reaches what was clipped.
  bool LetsThrough(T x) const { return Lets(min, max, (*this)(x)); }
  static bool Lets(C min, C max, T result) {
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    const C y = Load(result);
    return (y > min || y == -kInfinity) && (y < max || y == kInfinity);
  }

  T BeforeClip(T x) const { return Store<T>((Load(x) - mean) * factor + shift); }
  T Clipped(T result) const {
    const C y = Load(result);
    return Store<T>(y < min ? min : y > max ? max : y);
  }
  static C BoundOf(double value) { return Load(StoreF64<T>(value)); }

  C mean, factor, shift, min, max;
};

// `addend` is null where nothing is added.
template <class T, class C = Compute<T>>
void BatchNormNormalize(const BatchNormParameters& p, int64_t channel, const T* x, const T* addend,
                        C mean, C factor, C shift, T* y) {
  const Normalization<T> normalized(p, mean, factor, shift);
  if (addend == nullptr) {
    ForChannel(p, channel, [=](int64_t e) { y[e] = normalized(x[e]); });
  } else {
    ForChannel(p, channel, [=](int64_t e) { y[e] = normalized(x[e], addend[e]); });
  }
}

template <class T, bool kAdds>
struct Train {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    constexpr int kOfChannels = kAdds ? 2 : 1, kOutputs = kOfChannels + 4;  // the first of them
    const T* x = Data<const T>(context, i, 0);
    const T* addend = kAdds ? Data<const T>(context, i, 1) : nullptr;
    const C* scale = Data<const C>(context, i, kOfChannels);
    const C* shift = Data<const C>(context, i, kOfChannels + 1);
    const C* running_mean = Data<const C>(context, i, kOfChannels + 2);
    const C* running_var = Data<const C>(context, i, kOfChannels + 3);
    T* y = Data<T>(context, i, kOutputs);
    C* new_mean = Data<C>(context, i, kOutputs + 1);
    C* new_var = Data<C>(context, i, kOutputs + 2);
    C* saved_mean = Data<C>(context, i, kOutputs + 3);
    C* saved_inv_std = Data<C>(context, i, kOutputs + 4);
    for (int64_t c = 0; c < p.channels; ++c) {
      double sum = 0, squares = 0;
      ForChannel(p, c, [&](int64_t e) { sum += LoadF64(x[e]); });
      const double mean = sum / p.count();
      ForChannel(p, c, [&](int64_t e) {
        const double distance = LoadF64(x[e]) - mean;
        squares += distance * distance;
      });
      const double unbiased = squares / std::max(p.count() - 1, 1.0);
      new_mean[c] = Move(p, running_mean[c], mean);
      new_var[c] = Move(p, running_var[c], unbiased);
      saved_mean[c] = static_cast<C>(mean);
      saved_inv_std[c] = InverseDeviation<C>(squares / p.count(), p.epsilon);
      BatchNormNormalize(p, c, x, addend, saved_mean[c], saved_inv_std[c] * scale[c], shift[c], y);
    }
  }

  // Returns a running statistic after this batch.
  static C Move(const BatchNormParameters& p, C running, double batch) {
    return static_cast<C>((1 - p.momentum) * static_cast<double>(running) + p.momentum * batch);
  }
};

// The statistics are given: a mean and a variance, or what Train saved.
template <class T, bool kSaved, bool kAdds = false>
struct Given {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    constexpr int kOfChannels = kAdds ? 2 : 1;  // the first of them
    const T* x = Data<const T>(context, i, 0);
    const T* addend = kAdds ? Data<const T>(context, i, 1) : nullptr;
    const C* scale = Data<const C>(context, i, kOfChannels);
    const C* shift = Data<const C>(context, i, kOfChannels + 1);
    const C* means = Data<const C>(context, i, kOfChannels + 2);
    const C* deviations = Data<const C>(context, i, kOfChannels + 3);
    T* y = Data<T>(context, i, kOfChannels + 4);
    for (int64_t c = 0; c < p.channels; ++c) {
      const C inv_std = InverseDeviationOf<kSaved>(deviations[c], p.epsilon);
      BatchNormNormalize(p, c, x, addend, means[c], inv_std * scale[c], shift[c], y);
    }
  }
};

template <class T, bool kTraining>
struct BatchNormGrad {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    const C* scale = Data<const C>(context, i, 2);
    const C* means = Data<const C>(context, i, 3);
    const C* deviations = Data<const C>(context, i, 4);
    const C* shift = p.clips ? Data<const C>(context, i, 5) : nullptr;
    const int inputs = p.clips ? 6 : 5;
    T* dx = Data<T>(context, i, inputs);
    C* dscale = Data<C>(context, i, inputs + 1);
    C* dshift = Data<C>(context, i, inputs + 2);
    for (int64_t c = 0; c < p.channels; ++c) {
      const C mean = means[c];
      const C inv_std = InverseDeviationOf<kTraining>(deviations[c], p.epsilon);
      const C factor = scale[c] * inv_std;
      const Normalization<T> normalization(p, mean, factor, p.clips ? shift[c] : C(0));
      const auto before_clip = [&](int64_t e) {
        return !p.clips || normalization.LetsThrough(x[e]) ? dy[e] : Store<T>(0);
      };
      double sum = -0.0, product = -0.0;  // as the vectors of `cpu` begin
      ForChannel(p, c, [&](int64_t e) {
        const double dz = LoadF64(before_clip(e));
        sum += dz;
        product += dz * static_cast<double>((Load(x[e]) - mean) * inv_std);
      });
      dshift[c] = static_cast<C>(sum);
      dscale[c] = static_cast<C>(product);
      const C mean_sum = kTraining ? static_cast<C>(sum / p.count()) : C(0);
      const C mean_product = kTraining ? static_cast<C>(product / p.count()) : C(0);
      ForChannel(p, c, [&](int64_t e) {
        const C normalized = kTraining ? (Load(x[e]) - mean) * inv_std : C(0);
        dx[e] = Store<T>(factor * (Load(before_clip(e)) - mean_sum - normalized * mean_product));
      });
    }
  }
};

// Computes the gradient of the addend of a channel, and then its other gradients.
template <class T>
struct AddGrad {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const BatchNormParameters*>(i.parameters);
    const int inputs = p.two_parts ? 7 : 6;
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    const C* scale = Data<const C>(context, i, 2);
    const C* means = Data<const C>(context, i, 3);
    const C* inv_stds = Data<const C>(context, i, 4);
    const T* y = Data<const T>(context, i, 5);
    const T* more_dy = p.two_parts ? Data<const T>(context, i, 6) : nullptr;
    T* dx = Data<T>(context, i, inputs);
    C* dscale = Data<C>(context, i, inputs + 1);
    C* dshift = Data<C>(context, i, inputs + 2);
    T* daddend = Data<T>(context, i, inputs + 3);
    const C min = Normalization<T>::BoundOf(p.min), max = Normalization<T>::BoundOf(p.max);
    for (int64_t c = 0; c < p.channels; ++c) {
      const C mean = means[c], inv_std = inv_stds[c];
      double sum = -0.0, product = -0.0;  // as in BatchNormGrad
      ForChannel(p, c, [&](int64_t e) {
        const T all = p.two_parts ? Store<T>(Load(dy[e]) + Load(more_dy[e])) : dy[e];
        daddend[e] = Normalization<T>::Lets(min, max, y[e]) ? all : Store<T>(0);
        const double dz = LoadF64(daddend[e]);
        sum += dz;
        product += dz * static_cast<double>((Load(x[e]) - mean) * inv_std);
      });
      dshift[c] = static_cast<C>(sum);
      dscale[c] = static_cast<C>(product);
      const C mean_sum = static_cast<C>(sum / p.count());
      const C mean_product = static_cast<C>(product / p.count());
      ForChannel(p, c, [&](int64_t e) {
        const C normalized = (Load(x[e]) - mean) * inv_std;
        dx[e] = Store<T>(scale[c] * inv_std *
                         (Load(daddend[e]) - mean_sum - normalized * mean_product));
      });
    }
  }
};

template <class T>
using TrainAlone = Train<T, false>;
template <class T>
using TrainAndAdd = Train<T, true>;
template <class T>
using Infer = Given<T, /*kSaved=*/false>;
template <class T>
using Apply = Given<T, /*kSaved=*/true>;
template <class T>
using ApplyAndAdd = Given<T, /*kSaved=*/true, /*kAdds=*/true>;
template <class T>
using GradOfBatch = BatchNormGrad<T, true>;
template <class T>
using GradOfFrozen = BatchNormGrad<T, false>;

BatchNormParameters PackBatchNorm(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<BatchNormAttributes>();
  const Shape& x = node.inputs[0].shape;
  const int64_t plane = x.Elements() / (x[0].size * x[1].size);
  return {x[0].size,          x[1].size,           plane,
          attributes.epsilon, attributes.momentum, attributes.min,
          attributes.max,     attributes.clips(),  node.inputs.size() == 7};
}

bool IsTraining(const NodeSignature& node) {
  return node.attributes.As<BatchNormAttributes>().training;
}

PreparedKernel PrepareBatchNorm(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsTraining(request.node) ? ForFloat<TrainAlone>(dtype) : ForFloat<Infer>(dtype),
      PackBatchNorm(request.node));
}

template <template <class> class Kernel>
PreparedKernel PrepareBatchNormFor(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Kernel>(request.node.inputs[0].dtype),
                            PackBatchNorm(request.node));
}

PreparedKernel PrepareBatchNormGrad(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsTraining(request.node) ? ForFloat<GradOfBatch>(dtype) : ForFloat<GradOfFrozen>(dtype),
      PackBatchNorm(request.node));
}

}  // namespace

KernelDef batch_norm() {
  return {
      .name = "reference.batch_norm", .supports = FirstInputIsFloat, .prepare = PrepareBatchNorm};
}
KernelDef batch_norm_apply() {
  return {.name = "reference.batch_norm_apply",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormFor<Apply>};
}
KernelDef batch_norm_grad() {
  return {.name = "reference.batch_norm_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormGrad};
}
KernelDef batch_norm_add() {
  return {.name = "reference.batch_norm_add",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormFor<TrainAndAdd>};
}
KernelDef batch_norm_add_apply() {
  return {.name = "reference.batch_norm_add_apply",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormFor<ApplyAndAdd>};
}
KernelDef batch_norm_add_grad() {
  return {.name = "reference.batch_norm_add_grad",
          .supports = FirstInputIsFloat,
          .prepare = PrepareBatchNormFor<AddGrad>};
}

}  // namespace cgrun::reference
