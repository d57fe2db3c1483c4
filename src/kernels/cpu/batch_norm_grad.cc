// The gradient of batch_norm, f32, in the manner of batch_norm.cc.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/batch_norm_grad.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/channels.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);

struct Operands {
  const float *x, *dy, *scale, *mean, *deviation;
  float *dx, *dscale, *dshift;
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

// dx = factor·(dy − mean_sum − x̂·mean_product); with frozen statistics both means are 0.
struct Affine {
  float factor, mean_sum, mean_product;
};

template <bool kTraining>
float InverseDeviation(const Channels& p, float deviation) {
  if (kTraining) return deviation;
  return static_cast<float>(1 / std::sqrt(static_cast<double>(deviation) + p.epsilon));
}

template <bool kTraining>
Affine Conclude(const Channels& p, const Operands& o, int64_t c, float inv_std, double sum,
                double product) {
  o.dshift[c] = static_cast<float>(sum);
  o.dscale[c] = static_cast<float>(product);
  const float factor = o.scale[c] * inv_std;
  if (!kTraining) return {factor, 0, 0};
  return {factor, static_cast<float>(sum / p.count()), static_cast<float>(product / p.count())};
}

template <bool kTraining>
HWY_INLINE VF32 GradOf(VF32 x, VF32 dy, VF32 mean, VF32 inv_std, VF32 factor, VF32 mean_sum,
                       VF32 mean_product) {
  if (!kTraining) return hn::Mul(factor, dy);
  const VF32 normalized = hn::Mul(hn::Sub(x, mean), inv_std);
  return hn::Mul(factor, hn::NegMulAdd(normalized, mean_product, hn::Sub(dy, mean_sum)));
}

Products SumRows(const Channels& p, const Operands& o, int64_t c, float mean, float inv_std) {
  const F32 d;
  const VF32 m = hn::Set(d, mean), s = hn::Set(d, inv_std);
  Products a, b;
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    const float *x = o.x + at, *dy = o.dy + at;
    int64_t e = 0;
    for (; e + 2 * kLanes <= p.plane; e += 2 * kLanes) {
      a.Add(hn::LoadU(d, x + e), hn::LoadU(d, dy + e), m, s);
      b.Add(hn::LoadU(d, x + e + kLanes), hn::LoadU(d, dy + e + kLanes), m, s);
    }
    if (e + kLanes <= p.plane) {
      a.Add(hn::LoadU(d, x + e), hn::LoadU(d, dy + e), m, s);
      e += kLanes;
    }
    if (e == p.plane) continue;
    const VF32 none = hn::Set(d, Sum::kNeutral);
    b.Add(LoadFirstOr(d, x + e, p.plane - e, m), LoadFirstOr(d, dy + e, p.plane - e, none), m, s);
  }
  a.Join(b);
  return a;
}

template <bool kTraining>
void Row(const Channels& p, const Operands& o, int64_t c) {
  const float mean = o.mean[c], inv_std = InverseDeviation<kTraining>(p, o.deviation[c]);
  const Products products = SumRows(p, o, c, mean, inv_std);
  const Affine affine =
      Conclude<kTraining>(p, o, c, inv_std, products.sum.Total(), products.product.Total());
  for (int64_t n = 0; n < p.images; ++n) {
    const int64_t at = (n * p.channels + c) * p.plane;
    Sweep(F32(), std::array{o.x + at, o.dy + at}, std::array{o.dx + at}, 0, p.plane,
          [=](F32 d, const VF32* in, VF32* dx) {
            dx[0] = GradOf<kTraining>(in[0], in[1], hn::Set(d, mean), hn::Set(d, inv_std),
                                      hn::Set(d, affine.factor), hn::Set(d, affine.mean_sum),
                                      hn::Set(d, affine.mean_product));
          });
  }
}

// A vector of channels side by side. Lanes that pad a block stay 0.
template <bool kTraining>
void OfColumn(const Channels& p, const Operands& o, const Column& column) {
  const F32 d;
  HWY_ALIGN float means[kF32Lanes] = {}, inv_stds[kF32Lanes] = {}, factors[kF32Lanes] = {};
  HWY_ALIGN float mean_sums[kF32Lanes] = {}, mean_products[kF32Lanes] = {};
  for (int64_t lane = 0; lane < column.lanes; ++lane) {
    means[lane] = o.mean[column.first + lane];
    inv_stds[lane] = InverseDeviation<kTraining>(p, o.deviation[column.first + lane]);
  }
  const VF32 mean = hn::Load(d, means), inv_std = hn::Load(d, inv_stds);
  States<Products, 2> products;
  ForColumn(p, column, [&](int64_t at, int64_t chain) HWY_ATTR {
    products[static_cast<size_t>(chain)].Add(LoadSome(d, o.x + at, column.stored),
                                             LoadSome(d, o.dy + at, column.stored), mean, inv_std);
  });
  products[0].Join(products[1]);
  HWY_ALIGN double sums[kF32Lanes], totals[kF32Lanes];
  products[0].sum.Lanes(sums);
  products[0].product.Lanes(totals);
  for (int64_t lane = 0; lane < column.lanes; ++lane) {
    const Affine affine =
        Conclude<kTraining>(p, o, column.first + lane, inv_stds[lane], sums[lane], totals[lane]);
    factors[lane] = affine.factor;
    mean_sums[lane] = affine.mean_sum;
    mean_products[lane] = affine.mean_product;
  }
  const VF32 factor = hn::Load(d, factors), mean_sum = hn::Load(d, mean_sums);
  const VF32 mean_product = hn::Load(d, mean_products);
  ForColumn(p, column, [&](int64_t at, int64_t) HWY_ATTR {
    const VF32 dx = GradOf<kTraining>(LoadSome(d, o.x + at, column.stored),
                                      LoadSome(d, o.dy + at, column.stored), mean, inv_std, factor,
                                      mean_sum, mean_product);
    StoreSome(d, dx, o.dx + at, column.stored);
  });
}

template <bool kTraining>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Channels*>(i.parameters);
  const auto in = [&](int k) { return Data<const float>(context, i, k); };
  const auto out = [&](int k) { return Data<float>(context, i, k); };
  const Operands o{in(0), in(1), in(2), in(3), in(4), out(5), out(6), out(7)};
  SplitChannels<kLanes>(
      p, [&](int64_t c) { Row<kTraining>(p, o, c); },
      [&](const Column& column) { OfColumn<kTraining>(p, o, column); });
}

PreparedKernel Prepare(const KernelRequest& request) {
  const bool training = request.node.attributes.As<BatchNormAttributes>().training;
  return PreparedKernel::Of(training ? &Run<true> : &Run<false>, ChannelsOf(request));
}

KernelDef batch_norm_grad() {
  return PerElement({.name = "cpu.batch_norm_grad",
                     .supports = HasF32Channels,
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
