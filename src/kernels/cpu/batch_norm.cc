// Computes batch_norm of f32 or bf16 channel by channel, with its sums in f64. The first pass sums
// a channel, which then lies in the caches for the second pass. batch_norm_apply is the second pass
// alone. Both can add a tensor to the result. If channels lie side by side (in blocks, last, or
// with one element an image), each lane of a vector is a channel.
#include "src/ops/batch_norm.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/batch_norm.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/channels.h"
#include "src/kernels/cpu/clipping.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/positions.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

// Adds up x − shift and its square. The shift is one of the numbers, so that little cancels when
// the mean is taken out of the sums.
struct Moments {
  Sum sum;
  Sum squares;

  HWY_INLINE Moments() {}
  HWY_INLINE void Add(VF32 x, VF64 lower_shift, VF64 upper_shift) {
    const VF64 lower = hn::Sub(LowerF64(x), lower_shift);
    const VF64 upper = hn::Sub(UpperF64(x), upper_shift);
    sum.AddWide(lower, upper);
    squares.AddSquare(lower, upper);
  }
  HWY_INLINE void Join(const Moments& other) {
    sum.Join(other.sum);
    squares.Join(other.squares);
  }
};

float ShiftFor(float first) { return std::isfinite(first) ? first : 0; }

// Says which mean and variance a node normalises by.
enum class Statistics { kOfBatch, kRunning, kSaved };

// Holds the operands of a node. All but x, the addend and y are arrays of its channels. `mean` and
// `deviation` are inputs: running statistics, or those of the batch. These have 1 ÷ √(variance + ε)
// in place of a variance.
template <class T>
struct Operands {
  const T *x, *addend;  // an addend where there is one
  const float *scale, *shift, *mean, *deviation;
  T* y;
  float *new_mean, *new_var, *saved_mean, *saved_inv_std;
};

// y = (x − mean)·factor + shift + addend, clipped.
struct Affine {
  float mean, factor;
};

// Each step is rounded as a result of its own.
template <bool kAdds, class T>
HWY_INLINE VF32 Normalized(F32 d, VF32 x, VF32 addend, VF32 mean, VF32 factor, VF32 shift,
                           float min, float max) {
  VF32 y = RoundedTo<T>(d, hn::MulAdd(hn::Sub(x, mean), factor, shift));
  if constexpr (kAdds) y = RoundedTo<T>(d, hn::Add(y, addend));
  return Clipped(d, y, hn::Set(d, min), hn::Set(d, max));
}

float InverseDeviation(double variance, double epsilon) {
  return static_cast<float>(1 / std::sqrt(variance + epsilon));
}

// Writes the statistics of channel `c`, whose moments were taken about `about`.
template <class T>
Affine Conclude(const Channels& p, const Operands<T>& o, int64_t c, double about, double sum,
                double squares) {
  const double count = p.count(), mean = about + sum / count;
  const double around_mean = std::max(squares - sum * (sum / count), 0.0);  // NaN stays NaN
  const double batch_var = around_mean / std::max(count - 1, 1.0);
  const auto move = [&](float running, double batch) {
    return static_cast<float>((1 - p.momentum) * static_cast<double>(running) + p.momentum * batch);
  };
  o.new_mean[c] = move(o.mean[c], mean);
  o.new_var[c] = move(o.deviation[c], batch_var);
  o.saved_mean[c] = static_cast<float>(mean);
  o.saved_inv_std[c] = InverseDeviation(around_mean / count, p.epsilon);
  return {o.saved_mean[c], o.saved_inv_std[c] * o.scale[c]};
}

// The statistics are inputs.
template <Statistics kFrom, class T>
Affine Given(const Channels& p, const Operands<T>& o, int64_t c) {
  const float inv_std = kFrom == Statistics::kSaved
                            ? o.deviation[c]
                            : InverseDeviation(static_cast<double>(o.deviation[c]), p.epsilon);
  return {o.mean[c], inv_std * o.scale[c]};
}

template <class T>
Affine TrainRows(const Channels& p, const Operands<T>& o, int64_t c) {
  const float about = ShiftFor(static_cast<float>(o.x[c * p.plane]));
  const VF64 shift = hn::Set(F64(), static_cast<double>(about));
  Moments a, b;
  for (int64_t n = 0; n < p.images; ++n) {
    const T* x = o.x + (n * p.channels + c) * p.plane;
    int64_t e = 0;
    for (; e + 2 * kLanes <= p.plane; e += 2 * kLanes) {
      a.Add(LoadLanes(F32(), x + e), shift, shift);
      b.Add(LoadLanes(F32(), x + e + kLanes), shift, shift);
    }
    if (e + kLanes <= p.plane) {
      a.Add(LoadLanes(F32(), x + e), shift, shift);
      e += kLanes;
    }
    if (e == p.plane) continue;
    b.Add(LoadFirstOr(F32(), x + e, p.plane - e, hn::Set(F32(), about)), shift, shift);
  }
  a.Join(b);
  return Conclude(p, o, c, static_cast<double>(about), a.sum.Total(), a.squares.Total());
}

template <Statistics kFrom, class T>
Affine RowAffine(const Channels& p, const Operands<T>& o, int64_t c) {
  if constexpr (kFrom == Statistics::kOfBatch) {
    return TrainRows(p, o, c);
  } else {
    return Given<kFrom>(p, o, c);
  }
}

template <Statistics kFrom, bool kAdds, class T>
void Row(const Channels& p, const Operands<T>& o, int64_t c) {
  const Affine affine = RowAffine<kFrom>(p, o, c);
  const float shift = o.shift[c];
  const auto normalize = [=, min = p.min, max = p.max](F32 d, const VF32* in, VF32* y) HWY_ATTR {
    y[0] = Normalized<kAdds, T>(d, in[0], in[kAdds], hn::Set(d, affine.mean),
                                hn::Set(d, affine.factor), hn::Set(d, shift), min, max);
  };
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    const std::array y = {o.y + at};
    if constexpr (kAdds) {
      Sweep(F32(), std::array{o.x + at, o.addend + at}, y, 0, p.plane, normalize);
    } else {
      Sweep(F32(), std::array{o.x + at}, y, 0, p.plane, normalize);
    }
  }
}

// Returns how many lanes of vector `v` of a group are stored.
HWY_INLINE int64_t StoredOf(const Columns& columns, int64_t v) {
  return std::min(columns.stored - v * kLanes, kLanes);
}

template <int64_t kVectors, int64_t kChains, class T>
void TrainColumns(const Channels& p, const Operands<T>& o, const Columns& columns, float* means,
                  float* factors) {
  HWY_ALIGN float about[kVectors * kLanes] = {};
  const T* first = o.x + p.ColumnOffset(0, columns.first);
  for (int64_t lane = 0; lane < columns.lanes; ++lane)
    about[lane] = ShiftFor(static_cast<float>(first[lane]));
  States<Moments, kVectors * kChains> moments;
  ForPositions<kChains>(p, columns, [&](int64_t at, int64_t chain) CGRUN_IN_LOOP {
    PrefetchAhead<kVectors>(p, o.x + at);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const VF32 shift = hn::Load(F32(), about + v * kLanes);
      moments[static_cast<size_t>(v * kChains + chain)].Add(
          LoadSome(F32(), o.x + at + v * kLanes, StoredOf(columns, v)), LowerF64(shift),
          UpperF64(shift));
    }
  });
  HWY_ALIGN double sums[kVectors * kLanes], squares[kVectors * kLanes];
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    Moments& of_vector = moments[static_cast<size_t>(v * kChains)];
    if constexpr (kChains == 2) of_vector.Join(moments[static_cast<size_t>(v * kChains + 1)]);
    of_vector.sum.Lanes(sums + v * kLanes);
    of_vector.squares.Lanes(squares + v * kLanes);
  }
  for (int64_t lane = 0; lane < columns.lanes; ++lane) {
    const Affine affine = Conclude(p, o, columns.first + lane, static_cast<double>(about[lane]),
                                   sums[lane], squares[lane]);
    means[lane] = affine.mean;
    factors[lane] = affine.factor;
  }
}

// Vectors of channels side by side. Lanes that pad a block stay 0.
template <Statistics kFrom, bool kAdds, int64_t kVectors, int64_t kChains, class T>
void OfColumns(const Channels& p, const Operands<T>& o, const Columns& columns) {
  constexpr int64_t kMost = kVectors * kLanes;
  HWY_ALIGN float means[kMost] = {}, factors[kMost] = {}, shifts[kMost] = {};
  for (int64_t lane = 0; lane < columns.lanes; ++lane) {
    shifts[lane] = o.shift[columns.first + lane];
    if constexpr (kFrom != Statistics::kOfBatch) {
      const Affine affine = Given<kFrom>(p, o, columns.first + lane);
      means[lane] = affine.mean;
      factors[lane] = affine.factor;
    }
  }
  if constexpr (kFrom == Statistics::kOfBatch) {
    TrainColumns<kVectors, kChains>(p, o, columns, means, factors);
  }
  ForPositions<kChains>(
      p, columns, [&, min = p.min, max = p.max](int64_t at, int64_t) CGRUN_IN_LOOP {
        const F32 d;
        PrefetchAhead<kVectors>(p, o.x + at);
        if constexpr (kAdds) PrefetchAhead<kVectors>(p, o.addend + at);
        PrefetchAhead<kVectors>(p, o.y + at);
#pragma GCC unroll 4
        for (int64_t v = 0; v < kVectors; ++v) {
          const int64_t lane = v * kLanes, stored = StoredOf(columns, v);
          const VF32 x = LoadSome(d, o.x + at + lane, stored);
          const VF32 addend = kAdds ? LoadSome(d, o.addend + at + lane, stored) : x;
          const VF32 y = Normalized<kAdds, T>(d, x, addend, hn::Load(d, means + lane),
                                              hn::Load(d, factors + lane),
                                              hn::Load(d, shifts + lane), min, max);
          if (stored == kLanes) {
            StoreExact(d, y, o.y + at + lane);
          } else {
            StoreFirst(d, y, o.y + at + lane, stored);
          }
        }
      });
}

template <Statistics kFrom, bool kAdds, class T>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Channels*>(i.parameters);
  constexpr int kOfChannels = kAdds ? 2 : 1, kOutputs = kOfChannels + 4;  // the first of them
  const auto in = [&](int k) { return Data<const float>(context, i, kOfChannels + k); };
  const auto out = [&](int k) {
    return kFrom == Statistics::kOfBatch ? Data<float>(context, i, kOutputs + k) : nullptr;
  };
  const Operands<T> o{Data<const T>(context, i, 0),
                      kAdds ? Data<const T>(context, i, 1) : nullptr,
                      in(0),
                      in(1),
                      in(2),
                      in(3),
                      Data<T>(context, i, kOutputs),
                      out(1),
                      out(2),
                      out(3),
                      out(4)};
  SplitChannels<kLanes>(
      p, [&](int64_t c) { Row<kFrom, kAdds>(p, o, c); },
      [&]<int64_t kVectors, int64_t kChains>(const Columns& columns) {
        OfColumns<kFrom, kAdds, kVectors, kChains>(p, o, columns);
      });
}

template <Statistics kFrom, bool kAdds = false>
PreparedKernel PrepareFor(const KernelRequest& request) {
  const auto run = []<class T>(T*) -> KernelFunction { return &Run<kFrom, kAdds, T>; };
  return PreparedKernel::Of(ForChannels(request.node, run), ChannelsOf(request));
}

PreparedKernel Prepare(const KernelRequest& request) {
  const bool training = request.node.attributes.As<BatchNormAttributes>().training;
  return training ? PrepareFor<Statistics::kOfBatch>(request)
                  : PrepareFor<Statistics::kRunning>(request);
}

KernelDef Define(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  return PerElement({.name = name,
                     .supports = HasNarrowChannels,
                     .prepare = prepare,
                     .choose = ChooseChannels<kLanes>});
}

KernelDef batch_norm() { return Define("cpu.batch_norm", Prepare); }
KernelDef batch_norm_apply() {
  return Define("cpu.batch_norm_apply", PrepareFor<Statistics::kSaved>);
}
KernelDef batch_norm_add() {
  return Define("cpu.batch_norm_add", PrepareFor<Statistics::kOfBatch, true>);
}
KernelDef batch_norm_add_apply() {
  return Define("cpu.batch_norm_add_apply", PrepareFor<Statistics::kSaved, true>);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(batch_norm)
CGRUN_CPU_KERNEL(batch_norm_apply)
CGRUN_CPU_KERNEL(batch_norm_add)
CGRUN_CPU_KERNEL(batch_norm_add_apply)

}  // namespace cgrun::cpu
#endif
