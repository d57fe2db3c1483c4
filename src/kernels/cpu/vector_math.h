// Computes exponentials and logarithms of vectors by Highway's polynomials. Infinities, NaN and
// what overflows have the C library's results. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_VECTOR_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_VECTOR_MATH_H_
#undef CGRUN_KERNELS_CPU_VECTOR_MATH_H_
#else
#define CGRUN_KERNELS_CPU_VECTOR_MATH_H_
#endif

#include <limits>

#include "src/kernels/cpu/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

// e^x for x ≤ 0, or NaN. Highway gives 0 for NaN.
template <class D, class V>
HWY_INLINE V ExponentialOfNegative(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// e^x. The bound is where the result has long been infinite and the polynomial is still right.
template <class D, class V>
HWY_INLINE V Exponential(D d, V x) {
  const V bound = Constant(d, sizeof(hn::TFromD<D>) == 4 ? 104 : 720);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, hn::Min(x, bound)));
}

// ln x.
template <class D, class V>
HWY_INLINE V Logarithm(D d, V x) {
  const V infinity = Constant(d, std::numeric_limits<double>::infinity());
  const V nan = Constant(d, std::numeric_limits<double>::quiet_NaN());
  V y = hn::IfThenElse(hn::Lt(x, infinity), hn::Log(d, x), x);
  y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), nan, y);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
}

// ln(1 + x).
template <class D, class V>
HWY_INLINE V LogarithmOf1Plus(D d, V x) {
  const V one = Constant(d, 1);
  return hn::IfThenElse(hn::Gt(x, hn::Neg(one)), hn::Log1p(d, x), Logarithm(d, hn::Add(one, x)));
}

// 1/(1 + e^−x), the logistic function, without overflow for any x.
template <class D, class V>
HWY_INLINE V Logistic(D d, V x) {
  const V one = Constant(d, 1);
  const V e = ExponentialOfNegative(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// 1, −1, or 0 for zeros and NaN.
template <class D, class V>
HWY_INLINE V SignOf(D d, V x) {
  const V zero = hn::Zero(d), one = Constant(d, 1);
  return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one),
                 hn::IfThenElseZero(hn::Lt(x, zero), one));
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_VECTOR_MATH_H_
