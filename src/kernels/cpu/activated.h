// Applies an activation to a vector of sums. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_ACTIVATED_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_ACTIVATED_H_
#undef CGRUN_KERNELS_CPU_ACTIVATED_H_
#else
#define CGRUN_KERNELS_CPU_ACTIVATED_H_
#endif

#include "src/kernels/cpu/activation.h"
#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE VF32 Activated(const Activation& activation, VF32 y) {
  const F32 d;
  if (activation.kind == Activation::Kind::kNone) return y;
  const VF32 below = activation.kind == Activation::Kind::kRelu
                         ? hn::Zero(d)
                         : hn::Mul(hn::Set(d, static_cast<float>(activation.slope)), y);
  return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), below, y);  // a NaN is not less than 0
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_ACTIVATED_H_
