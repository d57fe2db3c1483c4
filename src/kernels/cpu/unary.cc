// Computes neg, exp, log and sqrt, and abs and clip with their gradients.
#include <limits>

#include "src/kernels/cpu/targets.h"
#include "src/ops/clip.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/unary.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/clipping.h"
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

struct Magnitude {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Abs(x);
  }
};

struct MagnitudeGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V dy) const {
    const V zero = hn::Zero(d);
    return hn::IfThenElse(hn::Gt(x, zero), dy, hn::IfThenElseZero(hn::Lt(x, zero), hn::Neg(dy)));
  }
};

// The bounds as the elements have them: what is clipped equals one.
struct Bounded {
  explicit Bounded(const NodeSignature& node) {
    const auto& attributes = node.attributes.As<ClipAttributes>();
    const bool is_short = node.outputs[0].dtype == DType::kBF16;
    const auto of = [&](double bound) {
      return is_short ? static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(bound))))
                      : bound;
    };
    min = of(attributes.min);
    max = of(attributes.max);
  }
  double min, max;
};

struct Clip : Bounded {
  using Bounded::Bounded;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Clipped(d, x, Constant(d, min), Constant(d, max));
  }
};

struct ClipGrad : Bounded {
  using Bounded::Bounded;
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return ClippedGrad(d, y, dy, Constant(d, min), Constant(d, max));
  }
};

KernelDef neg() { return Unary<Negative>::Define("cpu.neg"); }
KernelDef exp() { return Unary<NaturalExponential>::Define("cpu.exp"); }
KernelDef log() { return Unary<NaturalLogarithm>::Define("cpu.log"); }
KernelDef sqrt() { return Unary<SquareRoot>::Define("cpu.sqrt"); }
KernelDef abs() { return Unary<Magnitude>::Define("cpu.abs"); }
KernelDef abs_grad() { return Binary<MagnitudeGrad>::Define("cpu.abs_grad"); }
KernelDef clip() { return Unary<Clip>::Define("cpu.clip"); }
KernelDef clip_grad() { return Binary<ClipGrad>::Define("cpu.clip_grad"); }

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
CGRUN_CPU_KERNEL(abs)
CGRUN_CPU_KERNEL(abs_grad)
CGRUN_CPU_KERNEL(clip)
CGRUN_CPU_KERNEL(clip_grad)

}  // namespace cgrun::cpu
#endif
