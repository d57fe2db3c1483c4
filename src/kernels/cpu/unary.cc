// neg, exp, log, sqrt.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/unary.cc"
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

struct Negative {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};

struct NaturalExponential : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Exponential(d, x);
  }
};

struct NaturalLogarithm : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Logarithm(d, x);
  }
};

struct SquareRoot {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Sqrt(x);
  }
};

KernelDef neg() { return Unary<Negative>::Define("cpu.neg"); }
KernelDef exp() { return Unary<NaturalExponential>::Define("cpu.exp"); }
KernelDef log() { return Unary<NaturalLogarithm>::Define("cpu.log"); }
KernelDef sqrt() { return Unary<SquareRoot>::Define("cpu.sqrt"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(neg)
CGRUN_CPU_KERNEL(exp)
CGRUN_CPU_KERNEL(log)
CGRUN_CPU_KERNEL(sqrt)

}  // namespace cgrun::cpu
#endif
