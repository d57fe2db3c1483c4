// Computes silu and hard_swish, and their gradients.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/silu.cc"
#include <hwy/foreach_target.h>
//
#include <limits>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// The product of minus infinity and 0 would be a NaN.
template <class D, class V>
HWY_INLINE auto IsLowest(D d, V x) {
  return hn::Eq(x, Constant(d, -std::numeric_limits<double>::infinity()));
}

struct Silu : Elaborate {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(IsLowest(d, x), Constant(d, -0.0), hn::Mul(x, Logistic(d, x)));
  }
};

struct SiluGrad : Elaborate {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V one = Constant(d, 1), zero = hn::Zero(d);
    const V e = ExponentialOfNegative(d, hn::Neg(hn::Abs(x)));
    const V larger = hn::Div(one, hn::Add(one, e)), smaller = hn::Mul(e, larger);
    const V slope = hn::Mul(larger, smaller);  // of the logistic function
    const V gate = hn::IfThenElse(hn::Lt(x, zero), smaller, larger);
    const V rest = hn::IfThenElse(hn::Eq(slope, zero), zero, hn::Mul(x, slope));
    return hn::IfThenElse(IsLowest(d, x), zero, hn::Mul(dy, hn::Add(gate, rest)));
  }
};

struct HardSwish {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V three = Constant(d, 3);
    const V middle = hn::Div(hn::Mul(x, hn::Add(x, three)), Constant(d, 6));
    const V upper = hn::IfThenElse(hn::Ge(x, three), x, middle);
    return hn::IfThenElse(hn::Le(x, hn::Neg(three)), Constant(d, -0.0), upper);
  }
};

struct HardSwishGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V three = Constant(d, 3);
    const V slope = hn::Div(hn::Add(hn::Add(x, x), three), Constant(d, 6));
    const V upper = hn::IfThenElse(hn::Ge(x, three), dy, hn::Mul(dy, slope));
    return hn::IfThenElse(hn::Le(x, hn::Neg(three)), hn::Zero(d), upper);
  }
};

KernelDef silu() { return Unary<Silu>::Define("cpu.silu"); }
KernelDef silu_grad() { return Binary<SiluGrad>::Define("cpu.silu_grad"); }
KernelDef hard_swish() { return Unary<HardSwish>::Define("cpu.hard_swish"); }
KernelDef hard_swish_grad() { return Binary<HardSwishGrad>::Define("cpu.hard_swish_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(silu)
CGRUN_CPU_KERNEL(silu_grad)
CGRUN_CPU_KERNEL(hard_swish)
CGRUN_CPU_KERNEL(hard_swish_grad)

}  // namespace cgrun::cpu
#endif
