// Computes squared_error, absolute_error, hinge, huber, smooth_l1 and their gradients.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/mean_losses.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/mean_loss.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct SquaredError : LossFormula {
  SquaredError() : LossFormula{.slope_scale = 2} {}

  template <class D, class V>
  HWY_INLINE V Loss(D, V prediction, V target) const {
    const V difference = hn::Sub(prediction, target);
    return hn::Mul(difference, difference);
  }
  template <class D, class V>
  HWY_INLINE V Slope(D, V prediction, V target) const {
    return hn::Sub(prediction, target);
  }
};

struct AbsoluteError : LossFormula {
  template <class D, class V>
  HWY_INLINE V Loss(D, V prediction, V target) const {
    return hn::Abs(hn::Sub(prediction, target));
  }
  template <class D, class V>
  HWY_INLINE V Slope(D d, V prediction, V target) const {
    const V difference = hn::Sub(prediction, target);
    return hn::IfThenElse(hn::IsNaN(difference), difference, SignOf(d, difference));
  }
};

struct Hinge : LossFormula {
  static constexpr bool kAnyTarget = true;

  // 1 or −1; a NaN stays one.
  template <class D, class V>
  static HWY_INLINE V Side(D d, V target) {
    const V one = Constant(d, 1);
    const V side = hn::IfThenElse(hn::Gt(target, hn::Zero(d)), one, hn::Neg(one));
    return hn::IfThenElse(hn::IsNaN(target), target, side);
  }
  template <class D, class V>
  HWY_INLINE V Loss(D d, V score, V target) const {
    const V missing = hn::Sub(Constant(d, 1), hn::Mul(Side(d, target), score));
    return hn::IfThenElse(hn::Le(missing, hn::Zero(d)), hn::Zero(d), missing);
  }
  template <class D, class V>
  HWY_INLINE V Slope(D d, V score, V target) const {
    const V side = Side(d, target), product = hn::Mul(side, score);
    const V slope = hn::IfThenElseZero(hn::Lt(product, Constant(d, 1)), hn::Neg(side));
    return hn::IfThenElse(hn::IsNaN(product), product, slope);
  }
};

struct Huber : LossFormula {
  Huber(double at, double scale)
      : LossFormula{.loss_scale = scale, .slope_scale = scale}, delta(at) {}

  // A NaN is not more than delta.
  template <class D, class V>
  HWY_INLINE V Loss(D d, V prediction, V target) const {
    const V difference = hn::Sub(prediction, target), size = hn::Abs(difference);
    const V bound = Constant(d, delta), half = Constant(d, 0.5);
    const V linear = hn::Mul(bound, hn::Sub(size, Constant(d, delta / 2)));
    return hn::IfThenElse(hn::Gt(size, bound), linear,
                          hn::Mul(hn::Mul(difference, difference), half));
  }
  template <class D, class V>
  HWY_INLINE V Slope(D d, V prediction, V target) const {
    const V difference = hn::Sub(prediction, target);
    const V high = Constant(d, delta), low = hn::Neg(high);
    const V bounded = hn::IfThenElse(hn::Lt(difference, low), low, difference);
    return hn::IfThenElse(hn::Gt(difference, high), high, bounded);
  }

  double delta;
};

struct HuberOfDelta : Huber {
  explicit HuberOfDelta(const NodeSignature& node)
      : Huber(node.attributes.As<HuberAttributes>().delta, 1) {}
};

struct SmoothL1 : Huber {
  explicit SmoothL1(const NodeSignature& node)
      : Huber(node.attributes.As<SmoothL1Attributes>().beta,
              1 / node.attributes.As<SmoothL1Attributes>().beta) {}
};

struct HuberGrad : Huber {
  explicit HuberGrad(const NodeSignature& node)
      : Huber(node.attributes.As<HuberGradAttributes>().delta,
              node.attributes.As<HuberGradAttributes>().scale) {}
};

KernelDef squared_error() { return MeanLoss<SquaredError>::DefineLoss("cpu.squared_error"); }
KernelDef squared_error_grad() {
  return MeanLoss<SquaredError>::DefineGrad("cpu.squared_error_grad");
}
KernelDef absolute_error() { return MeanLoss<AbsoluteError>::DefineLoss("cpu.absolute_error"); }
KernelDef absolute_error_grad() {
  return MeanLoss<AbsoluteError>::DefineGrad("cpu.absolute_error_grad");
}
KernelDef hinge() { return MeanLoss<Hinge>::DefineLoss("cpu.hinge"); }
KernelDef hinge_grad() { return MeanLoss<Hinge>::DefineGrad("cpu.hinge_grad"); }
KernelDef huber() { return MeanLoss<HuberOfDelta>::DefineLoss("cpu.huber"); }
KernelDef huber_grad() { return MeanLoss<HuberGrad>::DefineGrad("cpu.huber_grad"); }
KernelDef smooth_l1() { return MeanLoss<SmoothL1>::DefineLoss("cpu.smooth_l1"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(squared_error)
CGRUN_CPU_KERNEL(squared_error_grad)
CGRUN_CPU_KERNEL(absolute_error)
CGRUN_CPU_KERNEL(absolute_error_grad)
CGRUN_CPU_KERNEL(hinge)
CGRUN_CPU_KERNEL(hinge_grad)
CGRUN_CPU_KERNEL(huber)
CGRUN_CPU_KERNEL(huber_grad)
CGRUN_CPU_KERNEL(smooth_l1)

}  // namespace cgrun::cpu
#endif
