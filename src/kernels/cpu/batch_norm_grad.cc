// The gradient of batch_norm, of f32 or bf16, in the manner of batch_norm.cc.
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

template <class T>
struct Operands {
  const T *x, *dy;
  const float *scale, *mean, *deviation, *shift;  // a shift where results were clipped
  T* dx;
  float *dscale, *dshift;
};

// The gradient before the clip that is a part of batch_norm, of whose result y it depends; y is
// computed again, by the formula of batch_norm.cc.
template <bool kClips, class T>
struct BeforeClip {
  float min, max;

  HWY_INLINE VF32 operator()(VF32 x, VF32 dy, VF32 mean, VF32 factor, VF32 shift) const {
    if (!kClips) return dy;
    const F32 d;
    const VF32 low = hn::Set(d, min), high = hn::Set(d, max);
    const VF32 y = RoundedTo<T>(d, hn::MulAdd(hn::Sub(x, mean), factor, shift));
    return ClippedGrad(d, Clipped(d, y, low, high), dy, low, high);
  }
};

// Σ dy and Σ dy·x̂ with x̂ = (x − mean)·inv_std.
struct Products {
  Sum sum;
  Sum product;

  HWY_INLINE Products() {}
  HWY_INLINE void Add(VF32 x, VF32 dy, VF32 mean, VF32 inv_std) {
    sum.Add(dy);
    product.AddProduct(dy, hn::Mul(hn::Sub(x, mean), inv_std));
  }
  HWY_INLINE void Join(const Products& other) {
    sum.Join(other.sum);
    product.Join(other.product);
  }
};

// What is known of a channel before its sums, with factor = scale·inv_std.
struct Given {
  float mean, inv_std, factor, shift;
};

template <bool kTraining, bool kClips, class T>
Given GivenOf(const Channels& p, const Operands<T>& o, int64_t c) {
  const float deviation = o.deviation[c];
  const float inv_std =
      kTraining ? deviation
                : static_cast<float>(1 / std::sqrt(static_cast<double>(deviation) + p.epsilon));
  return {o.mean[c], inv_std, o.scale[c] * inv_std, kClips ? o.shift[c] : 0};
}

// dx = factor·(dy − sum − x̂·product); with frozen statistics both means are 0.
struct Means {
  float sum, product;
};

template <bool kTraining, class T>
Means Conclude(const Channels& p, const Operands<T>& o, int64_t c, double sum, double product) {
  o.dshift[c] = static_cast<float>(sum);
  o.dscale[c] = static_cast<float>(product);
  if (!kTraining) return {0, 0};
  return {static_cast<float>(sum / p.count()), static_cast<float>(product / p.count())};
}

template <bool kTraining>
HWY_INLINE VF32 GradOf(VF32 x, VF32 dy, VF32 mean, VF32 inv_std, VF32 factor, VF32 mean_sum,
                       VF32 mean_product) {
  if (!kTraining) return hn::Mul(factor, dy);
  const VF32 normalized = hn::Mul(hn::Sub(x, mean), inv_std);
  return hn::Mul(factor, hn::NegMulAdd(normalized, mean_product, hn::Sub(dy, mean_sum)));
}

template <bool kClips, class T>
Products SumRows(const Channels& p, const Operands<T>& o, int64_t c, const Given& given) {
  const F32 d;
  const BeforeClip<kClips, T> before_clip{p.min, p.max};
  const VF32 mean = hn::Set(d, given.mean), inv_std = hn::Set(d, given.inv_std);
  const VF32 factor = hn::Set(d, given.factor), shift = hn::Set(d, given.shift);
  Products a, b;
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    const T *x = o.x + at, *dy = o.dy + at;
    const auto add = [&](Products& products, int64_t e) HWY_ATTR {
      const VF32 in = LoadLanes(d, x + e);
      products.Add(in, before_clip(in, LoadLanes(d, dy + e), mean, factor, shift), mean, inv_std);
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
    const VF32 dz = before_clip(in, LoadFirst(d, dy + e, p.plane - e), mean, factor, shift);
    const auto is_there = hn::FirstN(d, static_cast<size_t>(p.plane - e));
    b.Add(in, hn::IfThenElse(is_there, dz, hn::Set(d, Sum::kNeutral)), mean, inv_std);
  }
  a.Join(b);
  return a;
}

template <bool kTraining, bool kClips, class T>
void Row(const Channels& p, const Operands<T>& o, int64_t c) {
  const Given given = GivenOf<kTraining, kClips>(p, o, c);
  const Products products = SumRows<kClips>(p, o, c, given);
  const Means means = Conclude<kTraining>(p, o, c, products.sum.Total(), products.product.Total());
  const BeforeClip<kClips, T> before_clip{p.min, p.max};
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    Sweep(F32(), std::array{o.x + at, o.dy + at}, std::array{o.dx + at}, 0, p.plane,
          [=](F32 d, const VF32* in, VF32* dx) {
            const VF32 mean = hn::Set(d, given.mean), factor = hn::Set(d, given.factor);
            const VF32 dz = before_clip(in[0], in[1], mean, factor, hn::Set(d, given.shift));
            dx[0] = GradOf<kTraining>(in[0], dz, mean, hn::Set(d, given.inv_std), factor,
                                      hn::Set(d, means.sum), hn::Set(d, means.product));
          });
  }
}

// Vectors of channels side by side. Lanes that pad a block stay 0.
template <bool kTraining, bool kClips, int64_t kVectors, int64_t kChains, class T>
void OfColumns(const Channels& p, const Operands<T>& o, const Columns& columns) {
  constexpr int64_t kMost = kVectors * kLanes;
  HWY_ALIGN float means[kMost] = {}, inv_stds[kMost] = {}, factors[kMost] = {}, shifts[kMost] = {};
  HWY_ALIGN float mean_sums[kMost] = {}, mean_products[kMost] = {};
  for (int64_t lane = 0; lane < columns.lanes; ++lane) {
    const Given given = GivenOf<kTraining, kClips>(p, o, columns.first + lane);
    means[lane] = given.mean;
    inv_stds[lane] = given.inv_std;
    factors[lane] = given.factor;
    shifts[lane] = given.shift;
  }
  // Calls work(x, dz, lane, at, stored) for each vector at a position, dz the gradient before the
  // clip.
  const auto for_vectors = [&, clip = BeforeClip<kClips, T>{p.min, p.max}](
                               int64_t at, const auto& work) CGRUN_IN_LOOP {
    const F32 d;
    PrefetchAhead<kVectors>(p, o.x + at);
    PrefetchAhead<kVectors>(p, o.dy + at);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t lane = v * kLanes, stored = std::min(columns.stored - lane, kLanes);
      const VF32 x = LoadSome(d, o.x + at + lane, stored);
      const VF32 dy = LoadSome(d, o.dy + at + lane, stored);
      const VF32 dz = clip(x, dy, hn::Load(d, means + lane), hn::Load(d, factors + lane),
                           hn::Load(d, shifts + lane));
      work(x, dz, lane, at + lane, stored);
    }
  };
  States<Products, kVectors * kChains> products;
  ForPositions<kChains>(p, columns, [&](int64_t position, int64_t chain) CGRUN_IN_LOOP {
    for_vectors(position, [&](VF32 x, VF32 dz, int64_t lane, int64_t, int64_t) CGRUN_IN_LOOP {
      products[static_cast<size_t>(lane / kLanes * kChains + chain)].Add(
          x, dz, hn::Load(F32(), means + lane), hn::Load(F32(), inv_stds + lane));
    });
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
    const Means of_lane = Conclude<kTraining>(p, o, columns.first + lane, sums[lane], totals[lane]);
    mean_sums[lane] = of_lane.sum;
    mean_products[lane] = of_lane.product;
  }
  ForPositions<kChains>(p, columns, [&](int64_t position, int64_t) CGRUN_IN_LOOP {
    PrefetchAhead<kVectors>(p, o.dx + position);
    for_vectors(
        position, [&](VF32 x, VF32 dz, int64_t lane, int64_t at, int64_t stored) CGRUN_IN_LOOP {
          const F32 d;
          const VF32 dx =
              GradOf<kTraining>(x, dz, hn::Load(d, means + lane), hn::Load(d, inv_stds + lane),
                                hn::Load(d, factors + lane), hn::Load(d, mean_sums + lane),
                                hn::Load(d, mean_products + lane));
          StoreSome(d, dx, o.dx + at, stored);
        });
  });
}

template <bool kTraining, bool kClips, class T>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Channels*>(i.parameters);
  constexpr int kInputs = kClips ? 6 : 5;
  const auto in = [&](int k) { return Data<const float>(context, i, k); };
  const auto out = [&](int k) { return Data<float>(context, i, kInputs + k); };
  const Operands<T> o{
      Data<const T>(context, i, 0), Data<const T>(context, i, 1), in(2),  in(3), in(4),
      kClips ? in(5) : nullptr,     Data<T>(context, i, kInputs), out(1), out(2)};
  SplitChannels<kLanes>(
      p, [&](int64_t c) { Row<kTraining, kClips>(p, o, c); },
      [&]<int64_t kVectors, int64_t kChains>(const Columns& columns) {
        OfColumns<kTraining, kClips, kVectors, kChains>(p, o, columns);
      });
}

template <class T>
KernelFunction FunctionOf(const BatchNormAttributes& attributes) {
  if (attributes.clips()) return attributes.training ? &Run<true, true, T> : &Run<false, true, T>;
  return attributes.training ? &Run<true, false, T> : &Run<false, false, T>;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<BatchNormAttributes>();
  const auto run = [&]<class T>(T*) { return FunctionOf<T>(attributes); };
  return PreparedKernel::Of(ForChannels(request.node, run), ChannelsOf(request));
}

KernelDef batch_norm_grad() {
  return PerElement({.name = "cpu.batch_norm_grad",
                     .supports = HasNarrowChannels,
                     .prepare = Prepare,
                     .choose = ChooseChannels<2, kLanes>});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(batch_norm_grad)

}  // namespace cgrun::cpu
#endif
