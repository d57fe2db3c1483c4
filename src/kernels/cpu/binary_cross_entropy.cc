// Computes binary_cross_entropy and its gradients, from logits and from probabilities.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/binary_cross_entropy.cc"
#include <hwy/foreach_target.h>
//
#include <limits>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/mean_loss.h"
#include "src/ops/loss.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct OfProbability : LossFormula, Elaborate {
  static constexpr bool kAnyTarget = true, kTargetIsProbability = true;
};

struct FromLogits : OfProbability {
  // −t·ln p − (1 − t)·ln(1 − p). A factor of 0 takes part in no product: 0·∞ would be NaN.
  template <class D, class V>
  HWY_INLINE V Loss(D d, V x, V t) const {
    const V zero = hn::Zero(d), one = Constant(d, 1);
    const V small = hn::Log1p(d, ExponentialOfNegative(d, hn::Neg(hn::Abs(x))));
    const auto is_positive = hn::Gt(x, zero);
    const V yes = hn::Add(small, hn::IfThenElse(is_positive, zero, hn::Neg(x)));
    const V no = hn::Add(small, hn::IfThenElseZero(is_positive, x));
    return hn::Add(hn::IfThenElse(hn::Eq(t, zero), zero, hn::Mul(t, yes)),
                   hn::IfThenElse(hn::Eq(t, one), zero, hn::Mul(hn::Sub(one, t), no)));
  }
  template <class D, class V>
  HWY_INLINE V Slope(D d, V x, V t) const {
    return hn::Sub(Logistic(d, x), t);
  }
  template <class D, class V>
  static HWY_INLINE V TargetSlope(D, V x) {
    return hn::Neg(x);
  }
};

struct FromProbabilities : OfProbability {
  static constexpr double kLeastLog = -100, kLeastVariance = 1e-12;
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  template <class D, class V>
  static HWY_INLINE V AtLeast(D d, double bound, V x) {
    const V least = Constant(d, bound);
    return hn::IfThenElse(hn::Lt(x, least), least, x);
  }
  // NaN where p is no probability.
  template <class D, class V>
  static HWY_INLINE V LogYes(D d, V p) {
    const V log = AtLeast(d, kLeastLog, Logarithm(d, p));
    return hn::IfThenElse(hn::Gt(p, Constant(d, 1)), Constant(d, kNaN), log);
  }
  template <class D, class V>
  static HWY_INLINE V LogNo(D d, V p) {
    const V log = AtLeast(d, kLeastLog, LogarithmOf1Plus(d, hn::Neg(p)));
    return hn::IfThenElse(hn::Lt(p, hn::Zero(d)), Constant(d, kNaN), log);
  }

  template <class D, class V>
  HWY_INLINE V Loss(D d, V p, V t) const {
    const V no = hn::Mul(hn::Sub(Constant(d, 1), t), LogNo(d, p));
    return hn::Sub(hn::Mul(hn::Neg(t), LogYes(d, p)), no);
  }
  template <class D, class V>
  HWY_INLINE V Slope(D d, V p, V t) const {
    const V zero = hn::Zero(d), one = Constant(d, 1);
    const V variance = AtLeast(d, kLeastVariance, hn::Mul(p, hn::Sub(one, p)));
    const V slope = hn::Div(hn::Sub(p, t), variance);
    const auto known = hn::And(hn::Ge(p, zero), hn::Le(p, one));
    return hn::IfThenElse(known, slope, Constant(d, kNaN));
  }
  template <class D, class V>
  static HWY_INLINE V TargetSlope(D d, V p) {
    return hn::Sub(LogNo(d, p), LogYes(d, p));
  }
};

// The gradient of the target, which is floating-point.
template <class From>
struct OfTarget : LossFormula, Elaborate {
  template <class D, class V>
  HWY_INLINE V Slope(D d, V x, V) const {
    return From::TargetSlope(d, x);
  }
};

PreparedKernel PrepareGrad(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<BinaryCrossEntropyGradAttributes>();
  if (a.of_target) {
    return a.from_logits ? MeanLoss<OfTarget<FromLogits>>::PrepareGrad(request)
                         : MeanLoss<OfTarget<FromProbabilities>>::PrepareGrad(request);
  }
  return a.from_logits ? MeanLoss<FromLogits>::PrepareGrad(request)
                       : MeanLoss<FromProbabilities>::PrepareGrad(request);
}

KernelDef binary_cross_entropy() {
  KernelDef def = MeanLoss<FromLogits>::DefineLoss("cpu.binary_cross_entropy");
  def.prepare = [](const KernelRequest& request) {
    return request.node.attributes.As<BinaryCrossEntropyAttributes>().from_logits
               ? MeanLoss<FromLogits>::PrepareLoss(request)
               : MeanLoss<FromProbabilities>::PrepareLoss(request);
  };
  return def;
}

KernelDef binary_cross_entropy_grad() {
  KernelDef def = MeanLoss<FromLogits>::DefineGrad("cpu.binary_cross_entropy_grad");
  def.prepare = PrepareGrad;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(binary_cross_entropy)
CGRUN_CPU_KERNEL(binary_cross_entropy_grad)

}  // namespace cgrun::cpu
#endif
