// Computes layer_norm and its gradient, f32, row by row. The gradients of scale and shift are sums
// over the rows, a thread a part of the columns; they come first, so that dx may lie over x or dy.
#include "src/ops/layer_norm.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/layer_norm.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/sums.h"
#include "src/ops/infer.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = static_cast<int64_t>(kF32Lanes);
constexpr int64_t kTile = 256;  // columns that are added up side by side

// x seen as [rows, size].
struct Parameters {
  int64_t rows = 1;
  int64_t size = 1;
  double epsilon = 0;
  int threads = 1;
};

double MeanOf(const float* x, int64_t size) {
  States<Sum, 4> sums;
  AddRow(x, size, sums);
  return TotalOf(sums) / static_cast<double>(size);
}

double VarianceOf(const float* x, int64_t size, double mean) {
  const F32 d;
  const VF64 middle = hn::Set(F64(), mean);
  Sum sum;
  int64_t e = 0;
  for (; e + kLanes <= size; e += kLanes) {
    const VF32 v = hn::LoadU(d, x + e);
    sum.AddSquare(hn::Sub(LowerF64(v), middle), hn::Sub(UpperF64(v), middle));
  }
  double squares = sum.Total();
  for (; e < size; ++e) {
    const double distance = static_cast<double>(x[e]) - mean;
    squares += distance * distance;
  }
  return squares / static_cast<double>(size);
}

template <bool kAffine>
void Forward(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  constexpr int kOutput = kAffine ? 3 : 1;
  const float* x = Data<const float>(context, i, 0);
  const float* scale = kAffine ? Data<const float>(context, i, 1) : x;
  const float* shift = kAffine ? Data<const float>(context, i, 2) : x;
  float* y = Data<float>(context, i, kOutput);
  float* means = Data<float>(context, i, kOutput + 1);
  float* deviations = Data<float>(context, i, kOutput + 2);
  Split(p.threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x + row * p.size;
      const double mean = MeanOf(from, p.size);
      const double variance = VarianceOf(from, p.size, mean);
      const auto middle = static_cast<float>(mean);
      const auto inverse = static_cast<float>(1 / std::sqrt(variance + p.epsilon));
      const auto normalise = [=](auto d, const auto& in, auto& out) {
        out[0] = hn::Mul(hn::Sub(in[0], hn::Set(d, middle)), hn::Set(d, inverse));
        if constexpr (kAffine) out[0] = hn::MulAdd(out[0], in[1], in[2]);
      };
      const std::array to = {y + row * p.size};
      if constexpr (kAffine) Sweep(F32(), std::array{from, scale, shift}, to, 0, p.size, normalise);
      if constexpr (!kAffine) Sweep(F32(), std::array{from}, to, 0, p.size, normalise);
      means[row] = middle;
      deviations[row] = inverse;
    }
  });
}

struct GradOperands {
  const float* x;
  const float* dy;
  const float* means;
  const float* deviations;
  const float* scale;  // null where there is none
};

HWY_INLINE VF32 Normalised(VF32 x, VF32 mean, VF32 inverse) {
  return hn::Mul(hn::Sub(x, mean), inverse);
}

// Adds dy·x̂ and dy of columns [0, width) of a row, width ≤ kTile.
HWY_INLINE void AddColumns(const float* x, const float* dy, VF32 mean, VF32 inverse, int64_t width,
                           double* products, double* sums) {
  constexpr auto kHalf = static_cast<int64_t>(kF64Lanes);
  const F32 d;
  const F64 d64;
  const auto add = [d64](double* to, VF64 a)
                       HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d64, to), a), d64, to); };
  const auto add_product = [d64](double* to, VF64 a, VF64 b) HWY_ATTR {
    hn::StoreU(hn::MulAdd(a, b, hn::LoadU(d64, to)), d64, to);
  };
  for (int64_t c = 0; c < width; c += kLanes) {
    const int64_t lanes = std::min(kLanes, width - c);
    const VF32 g = LoadSome(d, dy + c, lanes);
    const VF32 normalised = Normalised(LoadSome(d, x + c, lanes), mean, inverse);
    add_product(products + c, LowerF64(g), LowerF64(normalised));
    add_product(products + c + kHalf, UpperF64(g), UpperF64(normalised));
    add(sums + c, LowerF64(g));
    add(sums + c + kHalf, UpperF64(g));
  }
}

// The gradients of scale and shift in columns [begin, end), row after row.
void ParameterGradients(const Parameters& p, const GradOperands& in, int64_t begin, int64_t end,
                        float* dscale, float* dshift) {
  for (int64_t first = begin; first < end; first += kTile) {
    const int64_t width = std::min(kTile, end - first);
    double products[kTile] = {}, sums[kTile] = {};
    for (int64_t row = 0; row < p.rows; ++row) {
      const int64_t at = row * p.size + first;
      AddColumns(in.x + at, in.dy + at, hn::Set(F32(), in.means[row]),
                 hn::Set(F32(), in.deviations[row]), width, products, sums);
    }
    for (int64_t c = 0; c < width; ++c) {
      dscale[first + c] = static_cast<float>(products[c]);
      dshift[first + c] = static_cast<float>(sums[c]);
    }
  }
}

// dx of a row, with g = dy·scale: inv_std·(g − mean(g) − x̂·mean(g·x̂)).
template <bool kAffine>
void InputGradient(const Parameters& p, const GradOperands& in, int64_t row, float* dx) {
  const F32 d;
  const float *x = in.x + row * p.size, *dy = in.dy + row * p.size, *scale = in.scale;
  const VF32 mean = hn::Set(d, in.means[row]), inverse = hn::Set(d, in.deviations[row]);
  const auto scaled = [=](int64_t e, int64_t lanes) HWY_ATTR {
    const VF32 g = LoadSome(d, dy + e, lanes);
    return kAffine ? hn::Mul(g, LoadSome(d, scale + e, lanes)) : g;
  };
  Sum sum, product;
  for (int64_t e = 0; e < p.size; e += kLanes) {
    const int64_t lanes = std::min(kLanes, p.size - e);
    const auto inside = hn::FirstN(d, static_cast<size_t>(lanes));
    const VF32 normalised = Normalised(LoadSome(d, x + e, lanes), mean, inverse);
    const VF32 g = scaled(e, lanes);
    sum.Add(g);
    product.AddProduct(g, hn::IfThenElseZero(inside, normalised));
  }
  const auto count = static_cast<double>(p.size);
  const VF32 mean_g = hn::Set(d, static_cast<float>(sum.Total() / count));
  const VF32 mean_product = hn::Set(d, static_cast<float>(product.Total() / count));
  for (int64_t e = 0; e < p.size; e += kLanes) {
    const int64_t lanes = std::min(kLanes, p.size - e);
    const VF32 normalised = Normalised(LoadSome(d, x + e, lanes), mean, inverse);
    const VF32 rest = hn::NegMulAdd(normalised, mean_product, hn::Sub(scaled(e, lanes), mean_g));
    StoreSome(d, hn::Mul(inverse, rest), dx + e, lanes);
  }
}

template <bool kAffine>
void Grad(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const GradOperands in{Data<const float>(context, i, 0), Data<const float>(context, i, 1),
                        Data<const float>(context, i, 2), Data<const float>(context, i, 3),
                        kAffine ? Data<const float>(context, i, 4) : nullptr};
  if constexpr (kAffine) {
    float *dscale = Data<float>(context, i, 6), *dshift = Data<float>(context, i, 7);
    Split(p.threads, p.size, kLanes, [&, dscale, dshift](int64_t begin, int64_t end) {
      ParameterGradients(p, in, begin, end, dscale, dshift);
    });
  }
  float* dx = Data<float>(context, i, kAffine ? 5 : 4);
  Split(p.threads, p.rows, 1, [&, dx](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      InputGradient<kAffine>(p, in, row, dx + row * p.size);
    }
  });
}

PreparedKernel Prepare(const KernelRequest& request, KernelFunction affine, KernelFunction plain) {
  const Shape& x = request.node.inputs[0].shape;
  const auto& attributes = request.node.attributes.As<LayerNormAttributes>();
  Parameters p{1, 1, attributes.epsilon, ThreadsFor(request, Work::kComputes)};
  const int first = *NormalizeAxis(attributes.axis, x.rank());
  for (int axis = 0; axis < x.rank(); ++axis) (axis < first ? p.rows : p.size) *= x[axis].size;
  return PreparedKernel::Of(attributes.affine ? affine : plain, p);
}

PreparedKernel PrepareForward(const KernelRequest& request) {
  return Prepare(request, &Forward<true>, &Forward<false>);
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return Prepare(request, &Grad<true>, &Grad<false>);
}

KernelDef layer_norm() {
  return PerElement({.name = "cpu.layer_norm", .supports = AllF32, .prepare = PrepareForward});
}

KernelDef layer_norm_grad() {
  return PerElement({.name = "cpu.layer_norm_grad", .supports = AllF32, .prepare = PrepareGrad});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(layer_norm)
CGRUN_CPU_KERNEL(layer_norm_grad)

}  // namespace cgrun::cpu
#endif
