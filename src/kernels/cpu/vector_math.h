// Computes functions of vectors, exponentials and logarithms by Highway's polynomials. Infinities,
// NaN and what overflows have the C library's results. Each target of Highway includes this file
// once.
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

// The polynomial whose coefficients begin with that of x⁰.
template <class D, class V, size_t kCount>
HWY_INLINE V Polynomial(D d, const double (&coefficients)[kCount], V x) {
  V sum = Constant(d, coefficients[kCount - 1]);
#pragma GCC unroll 16
  for (size_t k = 2; k <= kCount; ++k) {
    sum = hn::MulAdd(sum, x, Constant(d, coefficients[kCount - k]));
  }
  return sum;
}

// Φ(−a) for a ≥ 0, where `e` is e^(−a²/2). For f32.
template <class D, class V>
HWY_INLINE V TailOfNormal(D d, V a, V e) {
  // e^(a²/2)·Φ(−a)·(a + kMiddle) for a ≥ 0 is a polynomial of s = (a − kMiddle)/(a + kMiddle), to
  // 3e-8 of it: the interpolation at Chebyshev's points for a in [0, 15].
  constexpr double kMiddle = 3.75;
  constexpr double kCoefficients[] = {0.7502940682,    -0.5881883525,   0.3529398934,
                                      -0.1515194183,   0.03749084881,   0.001192735313,
                                      -0.004168778656, 0.0005210823569, 0.0004500479734};
  const V middle = Constant(d, kMiddle);
  const V bounded = hn::Min(a, Constant(d, 40));  // e is 0 there
  const V inverse = hn::Div(Constant(d, 1), hn::Add(bounded, middle));
  const V s = hn::Mul(hn::Sub(bounded, middle), inverse);
  return hn::Mul(hn::Mul(e, Polynomial(d, kCoefficients, s)), inverse);
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
