// Computes clip and its gradient on vectors. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_CLIPPING_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_CLIPPING_H_
#undef CGRUN_KERNELS_CPU_CLIPPING_H_
#else
#define CGRUN_KERNELS_CPU_CLIPPING_H_
#endif

#include <limits>

#include "src/kernels/cpu/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

// A NaN stays a NaN, and −0 stays −0 at a bound of 0.
template <class D, class V>
HWY_INLINE V Clipped(D /*d*/, V x, V min, V max) {
  return hn::IfThenElse(hn::Lt(x, min), min, hn::IfThenElse(hn::Gt(x, max), max, x));
}

// dy where `y`, which was clipped, lies between the bounds, else 0.
template <class D, class V>
HWY_INLINE V ClippedGrad(D d, V y, V dy, V min, V max) {
  const V infinity = Constant(d, std::numeric_limits<double>::infinity());
  const auto above = hn::Or(hn::Gt(y, min), hn::Eq(y, hn::Neg(infinity)));
  const auto below = hn::Or(hn::Lt(y, max), hn::Eq(y, infinity));
  return hn::IfThenElseZero(hn::And(above, below), dy);
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_CLIPPING_H_
