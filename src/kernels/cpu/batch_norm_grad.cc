// The gradients of batch_norm and batch_norm_add, of f32 or bf16, in the manner of batch_norm.cc.
// The first pass over what they read makes that of the addend.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/batch_norm_grad.cc"
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

// The two structs below give the gradient dz of the result of batch_norm before a clip. First()
// serves the pass for the sums: it gives `count` lanes from element `at` on. Second() serves the
// pass for dx, and reads from second().

// Computes dz from the gradient of the result y. y decides which elements the clip lets through. It
// is recomputed by the formula of batch_norm.cc.
template <bool kClips, class T>
struct OfResult {
  static constexpr int kInputs = kClips ? 6 : 5;
  static constexpr int64_t kAhead = kPositionsAhead;

  OfResult(const RunContext& context, const Instruction& i, const Channels& p)
      : dy(Data<const T>(context, i, 1)), min(p.min), max(p.max) {}

  HWY_INLINE VF32 First(VF32 x, int64_t at, int64_t count, VF32 mean, VF32 factor,
                        VF32 shift) const {
    return Second(x, LoadSome(F32(), dy + at, count), mean, factor, shift);
  }
  HWY_INLINE VF32 Second(VF32 x, VF32 of_y, VF32 mean, VF32 factor, VF32 shift) const {
    if (!kClips) return of_y;
    const F32 d;
    const VF32 low = hn::Set(d, min), high = hn::Set(d, max);
    const VF32 y = RoundedTo<T>(d, hn::MulAdd(hn::Sub(x, mean), factor, shift));
    return ClippedGrad(d, Clipped(d, y, low, high), of_y, low, high);
  }
  const T* second() const { return dy; }
  template <int64_t kVectors>
  HWY_INLINE void Prefetch(const Channels& p, int64_t at) const {
    PrefetchAhead<kVectors>(p, dy + at);
  }

  const T* dy;
  float min, max;
};

// Computes dz from the gradient of y, in two parts or one, and from y itself. dz is a result of the
// node, too.
template <bool kTwo, class T>
struct OfParts {
  static constexpr int kInputs = kTwo ? 7 : 6;
  static constexpr int64_t kAhead = kPositionsAhead / 3;

  OfParts(const RunContext& context, const Instruction& i, const Channels& p)
      : dy(Data<const T>(context, i, 1)),
        y(Data<const T>(context, i, 5)),
        more_dy(kTwo ? Data<const T>(context, i, 6) : nullptr),
        dz(Data<T>(context, i, kInputs + 3)),
        min(p.min),
        max(p.max) {}

  HWY_INLINE VF32 First(VF32 /*x*/, int64_t at, int64_t count, VF32 /*mean*/, VF32 /*factor*/,
                        VF32 /*shift*/) const {
    const F32 d;
    VF32 of_y = LoadSome(d, dy + at, count);
    if constexpr (kTwo) {
      of_y = RoundedTo<T>(d, hn::Add(of_y, LoadSome(d, more_dy + at, count)));
    }
    const VF32 result = LoadSome(d, y + at, count);
    const VF32 of_sum = ClippedGrad(d, result, of_y, hn::Set(d, min), hn::Set(d, max));
    if (count == kLanes) {
      StoreExact(d, of_sum, dz + at);
    } else {
      StoreFirst(d, of_sum, dz + at, count);
    }
    return of_sum;
  }
  HWY_INLINE VF32 Second(VF32 /*x*/, VF32 of_sum, VF32 /*mean*/, VF32 /*factor*/,
                         VF32 /*shift*/) const {
    return of_sum;
  }
  const T* second() const { return dz; }
  template <int64_t kVectors>
  HWY_INLINE void Prefetch(const Channels& p, int64_t at) const {
    PrefetchAhead<kVectors, kAhead>(p, dy + at);
    PrefetchAhead<kVectors, kAhead>(p, y + at);
    if constexpr (kTwo) PrefetchAhead<kVectors, kAhead>(p, more_dy + at);
  }

  const T *dy, *y, *more_dy;
  T* dz;
  float min, max;
};

template <class T>
struct Operands {
  const T* x;
  const float *scale, *mean, *deviation, *shift;  // a shift if y is recomputed
  T* dx;
  float *dscale, *dshift;
};

// Σ dz and Σ dz·x̂ with x̂ = (x − mean)·inv_std.
struct Products {
  Sum sum;
  Sum product;

  HWY_INLINE Products() {}
  HWY_INLINE void Add(VF32 x, VF32 dz, VF32 mean, VF32 inv_std) {
    sum.Add(dz);
    product.AddProduct(dz, hn::Mul(hn::Sub(x, mean), inv_std));
  }
  HWY_INLINE void Join(const Products& other) {
    sum.Join(other.sum);
    product.Join(other.product);
  }
};

// The numbers of a channel that are known before its sums. Here factor = scale·inv_std.
struct Given {
  float mean, inv_std, factor, shift;
};

template <class T>
Given GivenOf(const Channels& p, const Operands<T>& o, int64_t c) {
  const float deviation = o.deviation[c];
  const float inv_std =
      p.training ? deviation
                 : static_cast<float>(1 / std::sqrt(static_cast<double>(deviation) + p.epsilon));
  return {o.mean[c], inv_std, o.scale[c] * inv_std, o.shift == nullptr ? 0 : o.shift[c]};
}

// dx = factor·(dz − sum − x̂·product); with frozen statistics both means are 0.
struct Means {
  float sum, product;
};

template <class T>
Means Conclude(const Channels& p, const Operands<T>& o, int64_t c, double sum, double product) {
  o.dshift[c] = static_cast<float>(sum);
  o.dscale[c] = static_cast<float>(product);
  if (!p.training) return {0, 0};
  return {static_cast<float>(sum / p.count()), static_cast<float>(product / p.count())};
}

HWY_INLINE VF32 GradOf(bool training, VF32 x, VF32 dz, VF32 mean, VF32 inv_std, VF32 factor,
                       VF32 mean_sum, VF32 mean_product) {
  if (!training) return hn::Mul(factor, dz);
  const VF32 normalized = hn::Mul(hn::Sub(x, mean), inv_std);
  return hn::Mul(factor, hn::NegMulAdd(normalized, mean_product, hn::Sub(dz, mean_sum)));
}

template <class Source, class T>
Products SumRows(const Channels& p, const Operands<T>& o, const Source& source, int64_t c,
                 const Given& given) {
  const F32 d;
  const VF32 mean = hn::Set(d, given.mean), inv_std = hn::Set(d, given.inv_std);
  const VF32 factor = hn::Set(d, given.factor), shift = hn::Set(d, given.shift);
  Products a, b;
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    const T* x = o.x + at;
    const auto add = [&](Products& products, int64_t e) HWY_ATTR {
      const VF32 in = LoadLanes(d, x + e);
      products.Add(in, source.First(in, at + e, kLanes, mean, factor, shift), mean, inv_std);
    };
    int64_t e = 0;
    for (; e + 2 * kLanes <= p.plane; e += 2 * kLanes) {
      add(a, e);
      add(b, e + kLanes);
    }
    if (e + kLanes <= p.plane) {
      add(a, e);
      e += kLanes;
    }
    if (e == p.plane) continue;
    const VF32 in = LoadFirstOr(d, x + e, p.plane - e, mean);
    const VF32 dz = source.First(in, at + e, p.plane - e, mean, factor, shift);
    const auto is_there = hn::FirstN(d, static_cast<size_t>(p.plane - e));
    b.Add(in, hn::IfThenElse(is_there, dz, hn::Set(d, Sum::kNeutral)), mean, inv_std);
  }
  a.Join(b);
  return a;
}

template <class Source, class T>
void Row(const Channels& p, const Operands<T>& o, const Source& source, int64_t c) {
  const Given given = GivenOf(p, o, c);
  const Products products = SumRows(p, o, source, c, given);
  const Means means = Conclude(p, o, c, products.sum.Total(), products.product.Total());
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    Sweep(F32(), std::array{o.x + at, source.second() + at}, std::array{o.dx + at}, 0, p.plane,
          [=, training = p.training](F32 d, const VF32* in, VF32* dx) {
            const VF32 mean = hn::Set(d, given.mean), factor = hn::Set(d, given.factor);
            const VF32 dz = source.Second(in[0], in[1], mean, factor, hn::Set(d, given.shift));
            dx[0] = GradOf(training, in[0], dz, mean, hn::Set(d, given.inv_std), factor,
                           hn::Set(d, means.sum), hn::Set(d, means.product));
          });
  }
}

// Vectors of channels side by side. Lanes that pad a block stay 0.
template <int64_t kVectors, int64_t kChains, class Source, class T>
void OfColumns(const Channels& p, const Operands<T>& o, const Source& source,
               const Columns& columns) {
  constexpr int64_t kMost = kVectors * kLanes;
  HWY_ALIGN float means[kMost] = {}, inv_stds[kMost] = {}, factors[kMost] = {}, shifts[kMost] = {};
  HWY_ALIGN float mean_sums[kMost] = {}, mean_products[kMost] = {};
  for (int64_t lane = 0; lane < columns.lanes; ++lane) {
    const Given given = GivenOf(p, o, columns.first + lane);
    means[lane] = given.mean;
    inv_stds[lane] = given.inv_std;
    factors[lane] = given.factor;
    shifts[lane] = given.shift;
  }
  States<Products, kVectors * kChains> products;
  ForPositions<kChains>(p, columns, [&, source](int64_t at, int64_t chain) CGRUN_IN_LOOP {
    const F32 d;
    PrefetchAhead<kVectors, Source::kAhead>(p, o.x + at);
    source.template Prefetch<kVectors>(p, at);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t lane = v * kLanes, stored = std::min(columns.stored - lane, kLanes);
      const VF32 x = LoadSome(d, o.x + at + lane, stored), mean = hn::Load(d, means + lane);
      const VF32 dz = source.First(x, at + lane, stored, mean, hn::Load(d, factors + lane),
                                   hn::Load(d, shifts + lane));
      products[static_cast<size_t>(v * kChains + chain)].Add(x, dz, mean,
                                                             hn::Load(d, inv_stds + lane));
    }
  });
  HWY_ALIGN double sums[kMost], totals[kMost];
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    Products& of_vector = products[static_cast<size_t>(v * kChains)];
    if constexpr (kChains == 2) of_vector.Join(products[static_cast<size_t>(v * kChains + 1)]);
    of_vector.sum.Lanes(sums + v * kLanes);
    of_vector.product.Lanes(totals + v * kLanes);
  }
  for (int64_t lane = 0; lane < columns.lanes; ++lane) {
    const Means of_lane = Conclude(p, o, columns.first + lane, sums[lane], totals[lane]);
    mean_sums[lane] = of_lane.sum;
    mean_products[lane] = of_lane.product;
  }
  const bool training = p.training;
  ForPositions<kChains>(p, columns, [&, source, training](int64_t at, int64_t) CGRUN_IN_LOOP {
    const F32 d;
    PrefetchAhead<kVectors>(p, o.dx + at);
    PrefetchAhead<kVectors>(p, o.x + at);
    PrefetchAhead<kVectors>(p, source.second() + at);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t lane = v * kLanes, stored = std::min(columns.stored - lane, kLanes);
      const VF32 x = LoadSome(d, o.x + at + lane, stored), mean = hn::Load(d, means + lane);
      const VF32 factor = hn::Load(d, factors + lane);
      const VF32 dz = source.Second(x, LoadSome(d, source.second() + at + lane, stored), mean,
                                    factor, hn::Load(d, shifts + lane));
      const VF32 dx = GradOf(training, x, dz, mean, hn::Load(d, inv_stds + lane), factor,
                             hn::Load(d, mean_sums + lane), hn::Load(d, mean_products + lane));
      StoreSome(d, dx, o.dx + at + lane, stored);
    }
  });
}

template <class Source, class T>
void RunFrom(const RunContext& context, const Instruction& i, const float* shift) noexcept {
  const auto& p = *static_cast<const Channels*>(i.parameters);
  const auto in = [&](int k) { return Data<const float>(context, i, k); };
  const auto out = [&](int k) { return Data<float>(context, i, Source::kInputs + k); };
  const Operands<T> o{Data<const T>(context, i, 0),         in(2),  in(3), in(4), shift,
                      Data<T>(context, i, Source::kInputs), out(1), out(2)};
  const Source source(context, i, p);
  SplitChannels<kLanes>(
      p, [&](int64_t c) { Row(p, o, source, c); },
      [&]<int64_t kVectors, int64_t kChains>(const Columns& columns) {
        OfColumns<kVectors, kChains>(p, o, source, columns);
      });
}

template <bool kClips, class T>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const float* shift = kClips ? Data<const float>(context, i, 5) : nullptr;
  RunFrom<OfResult<kClips, T>, T>(context, i, shift);
}

template <bool kTwo, class T>
void RunAdd(const RunContext& context, const Instruction& i) noexcept {
  RunFrom<OfParts<kTwo, T>, T>(context, i, nullptr);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const bool clips = request.node.attributes.As<BatchNormAttributes>().clips();
  const auto run = [clips]<class T>(T*) -> KernelFunction {
    return clips ? &Run<true, T> : &Run<false, T>;
  };
  return PreparedKernel::Of(ForChannels(request.node, run), ChannelsOf(request));
}

PreparedKernel PrepareAdd(const KernelRequest& request) {
  const bool two = request.node.inputs.size() == 7;
  const auto run = [two]<class T>(T*) -> KernelFunction {
    return two ? &RunAdd<true, T> : &RunAdd<false, T>;
  };
  return PreparedKernel::Of(ForChannels(request.node, run), ChannelsOf(request));
}

KernelDef batch_norm_grad() {
  return PerElement({.name = "cpu.batch_norm_grad",
                     .supports = HasNarrowChannels,
                     .prepare = Prepare,
                     .choose = ChooseChannels<kLanes>});
}

KernelDef batch_norm_add_grad() {
  return PerElement({.name = "cpu.batch_norm_add_grad",
                     .supports = HasNarrowChannels,
                     .prepare = PrepareAdd,
                     .choose = ChooseChannels<kLanes>});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(batch_norm_grad)
CGRUN_CPU_KERNEL(batch_norm_add_grad)

}  // namespace cgrun::cpu
#endif
