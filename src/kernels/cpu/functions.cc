// Computes sign, ceil, floor, round, erf, sin and cos.
#include <cmath>
#include <numbers>

#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/functions.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct SignWithNan {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::IsNaN(x), x, SignOf(d, x));
  }
};

struct Upwards {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Ceil(x);
  }
};

struct Downwards {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Floor(x);
  }
};

struct ToNearest {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Round(x);
  }
};

// Below 1 it is x times a polynomial of x², the interpolation at Chebyshev's points, to 2e-9 of it.
// Above, it is made of the tail of the normal distribution.
struct ErrorFunction : Elaborate {
  static constexpr bool kNoF64 = true;
  static constexpr double kCoefficients[] = {1.128379166,    -0.376126269,   0.1128359746,
                                             -0.0268543288,  0.005189311942, -0.0008018854991,
                                             7.882497107e-05};
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = Constant(d, 1), magnitude = hn::Abs(x), square = hn::Mul(x, x);
    const V near = hn::Mul(x, Polynomial(d, kCoefficients, square));
    const V e = ExponentialOfNegative(d, hn::Neg(square));
    const V tail = TailOfNormal(d, hn::Mul(magnitude, Constant(d, std::numbers::sqrt2)), e);
    const V far = hn::CopySign(hn::NegMulAdd(Constant(d, 2), tail, one), x);
    const V y = hn::IfThenElse(hn::Lt(magnitude, one), near, far);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  }
};

// Highway's sine and cosine are right up to here. Beyond it, and for infinities and NaN, a whole
// vector takes the C library's function, which is many times slower.
constexpr double kLargestAngle = 39000;

template <class D, class V, class F>
HWY_NOINLINE V EachByItself(D d, V x, F f) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (size_t k = 0; k < hn::Lanes(d); ++k) lanes[k] = f(lanes[k]);
  return hn::Load(d, lanes);
}

template <class D, class V>
HWY_INLINE bool AreSmall(D d, V x) {
  return hn::AllTrue(d, hn::Le(hn::Abs(x), Constant(d, kLargestAngle)));
}

struct Sine : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if (AreSmall(d, x)) return hn::Sin(d, x);
    return EachByItself(d, x, [](auto angle) { return std::sin(angle); });
  }
};

struct Cosine : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if (AreSmall(d, x)) return hn::Cos(d, x);
    return EachByItself(d, x, [](auto angle) { return std::cos(angle); });
  }
};

KernelDef sign() { return Unary<SignWithNan>::Define("cpu.sign"); }
KernelDef ceil() { return Unary<Upwards>::Define("cpu.ceil"); }
KernelDef floor() { return Unary<Downwards>::Define("cpu.floor"); }
KernelDef round() { return Unary<ToNearest>::Define("cpu.round"); }
KernelDef erf() { return Unary<ErrorFunction>::Define("cpu.erf"); }
KernelDef sin() { return Unary<Sine>::Define("cpu.sin"); }
KernelDef cos() { return Unary<Cosine>::Define("cpu.cos"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(sign)
CGRUN_CPU_KERNEL(ceil)
CGRUN_CPU_KERNEL(floor)
CGRUN_CPU_KERNEL(round)
CGRUN_CPU_KERNEL(erf)
CGRUN_CPU_KERNEL(sin)
CGRUN_CPU_KERNEL(cos)

}  // namespace cgrun::cpu
#endif
