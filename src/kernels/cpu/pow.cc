// Computes pow and the gradients of its operands for f32 and bf16, by logarithms in f64.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/pow.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/broadcasting.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// Returns what C's pow does, but for the sign of a NaN.
HWY_INLINE VF64 PowerF64(VF64 a, VF64 b) {
  const F64 d;
  const VF64 zero = hn::Zero(d), one = hn::Set(d, 1), magnitude = hn::Abs(a);
  const VF64 infinity = Constant(d, std::numeric_limits<double>::infinity());
  const VF64 nan = Constant(d, std::numeric_limits<double>::quiet_NaN());
  VF64 y = Exponential(d, hn::Mul(b, Logarithm(d, magnitude)));
  const VF64 half = hn::Mul(b, hn::Set(d, 0.5));
  const auto is_integer = hn::Eq(hn::Floor(b), b);
  const auto is_odd = hn::AndNot(hn::Eq(hn::Floor(half), half), is_integer);
  y = hn::IfThenElse(is_odd, hn::CopySignToAbs(y, a), y);
  const auto has_root = hn::Or(hn::Ge(a, zero), hn::Eq(magnitude, infinity));
  y = hn::IfThenElse(hn::Or(is_integer, has_root), y, nan);
  const auto is_one = hn::And(hn::Eq(magnitude, one), hn::Eq(hn::Abs(b), infinity));
  const auto is_one_always = hn::Or(hn::Eq(b, zero), hn::Eq(a, one));
  return hn::IfThenElse(hn::Or(is_one, is_one_always), one, y);
}

HWY_INLINE VF32 Power(VF32 a, VF32 b) {
  return RoundedToF32(PowerF64(LowerF64(a), LowerF64(b)), PowerF64(UpperF64(a), UpperF64(b)));
}

struct Pow : Elaborate {
  static constexpr bool kNoF64 = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return Power(a, b);
  }
};

struct PowBaseGrad : Elaborate {
  static constexpr bool kNoF64 = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V dy) const {
    const V da = hn::Mul(dy, hn::Mul(b, Power(a, hn::Sub(b, Constant(d, 1)))));
    return hn::IfThenElse(hn::Eq(b, hn::Zero(d)), hn::Zero(d), da);
  }
};

struct PowExponentGrad : Elaborate {
  static constexpr bool kNoF64 = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V y, V dy) const {
    const auto flat = hn::And(hn::Eq(a, hn::Zero(d)), hn::Le(hn::Abs(y), Constant(d, 1)));
    return hn::IfThenElse(flat, hn::Zero(d), hn::Mul(dy, hn::Mul(y, Logarithm(d, a))));
  }
};

KernelDef pow() { return Broadcasting<Pow>::Define("cpu.pow"); }
KernelDef pow_base_grad() { return Broadcasting<PowBaseGrad, 3>::Define("cpu.pow_base_grad"); }
KernelDef pow_exponent_grad() {
  return Broadcasting<PowExponentGrad, 3>::Define("cpu.pow_exponent_grad");
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(pow)
CGRUN_CPU_KERNEL(pow_base_grad)
CGRUN_CPU_KERNEL(pow_exponent_grad)

}  // namespace cgrun::cpu
#endif
