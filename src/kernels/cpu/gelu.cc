// Computes gelu and its gradient, exactly and by tanh, for f32 and bf16.
#include "src/ops/gelu.h"

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/gelu.cc"
#include <hwy/foreach_target.h>
//
#include <limits>
#include <numbers>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// Holds Φ(x) and x·Φ'(x).
template <class V>
struct Distribution {
  V value;
  V slope_times_x;
};

struct Exact {
  template <class D, class V>
  static HWY_INLINE Distribution<V> At(D d, V x) {
    constexpr double kDensityAt0 = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const V one = Constant(d, 1);
    const V e = ExponentialOfNegative(d, hn::Mul(hn::Mul(x, x), Constant(d, -0.5)));
    const V tail = TailOfNormal(d, hn::Abs(x), e);
    const V density = hn::Mul(e, Constant(d, kDensityAt0));
    return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)),
            hn::IfThenElse(hn::Gt(density, hn::Zero(d)), hn::Mul(x, density), density)};
  }
};

// (1 + tanh u)/2 is the logistic function of 2u.
struct ByTanh {
  template <class D, class V>
  static HWY_INLINE Distribution<V> At(D d, V x) {
    constexpr double kCubic = 0.044715;
    constexpr double kTwice = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const V one = Constant(d, 1), zero = hn::Zero(d), square = hn::Mul(x, x);
    const V two_u =
        hn::Mul(Constant(d, kTwice), hn::MulAdd(hn::Mul(Constant(d, kCubic), square), x, x));
    const V e = ExponentialOfNegative(d, hn::Neg(hn::Abs(two_u)));
    const V larger = hn::Div(one, hn::Add(one, e)), smaller = hn::Mul(e, larger);
    const V slope = hn::Mul(larger, smaller);  // of the logistic function
    const V inner = hn::Mul(Constant(d, kTwice), hn::MulAdd(Constant(d, 3 * kCubic), square, one));
    return {hn::IfThenElse(hn::Lt(two_u, zero), smaller, larger),
            hn::IfThenElse(hn::Eq(slope, zero), zero, hn::Mul(hn::Mul(x, slope), inner))};
  }
};

template <class D, class V>
HWY_INLINE auto IsLeast(D d, V x) {
  return hn::Eq(x, Constant(d, -std::numeric_limits<double>::infinity()));
}

template <class Phi>
struct Gelu : Elaborate {
  static constexpr bool kKeepsZero = true, kNoF64 = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(IsLeast(d, x), Constant(d, -0.0), hn::Mul(x, Phi::At(d, x).value));
  }
};

template <class Phi>
struct GeluGrad : Elaborate {
  static constexpr bool kKeepsZero = true, kNoF64 = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const Distribution<V> phi = Phi::At(d, x);
    const V dx = hn::Mul(dy, hn::Add(phi.value, phi.slope_times_x));
    return hn::IfThenElse(IsLeast(d, x), hn::Zero(d), dx);
  }
};

// Static as src/kernels/number.h says.
template <template <class> class Formula, size_t kInputs>
static KernelDef Define(std::string_view name) {
  KernelDef def = Map<Formula<Exact>, kInputs>::Define(name);
  def.prepare = [](const KernelRequest& request) {
    return request.node.attributes.As<GeluAttributes>().approximate == "none"
               ? Map<Formula<Exact>, kInputs>::Prepare(request)
               : Map<Formula<ByTanh>, kInputs>::Prepare(request);
  };
  return def;
}

KernelDef gelu() { return Define<Gelu, 1>("cpu.gelu"); }
KernelDef gelu_grad() { return Define<GeluGrad, 2>("cpu.gelu_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(gelu)
CGRUN_CPU_KERNEL(gelu_grad)

}  // namespace cgrun::cpu
#endif
