// Computes rmsprop and adagrad, alone and behind the product that makes their gradient.
#include "src/kernels/cpu/targets.h"
#include "src/ops/optimizer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/adaptive_optimizers.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/optimizer_rule.h"
#include "src/kernels/cpu/update_by_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// `Added` is Regularization or NoRegularization. The states are v, then m if kCentered, then b if
// kMomentum.
template <class Added, bool kCentered, bool kMomentum>
struct Rmsprop {
  using Attributes = RmspropAttributes;
  static constexpr size_t kMean = 3, kBuffer = kCentered ? 4 : 3;  // among what is read
  static constexpr size_t kStates = 1 + (kCentered ? 1 : 0) + (kMomentum ? 1 : 0);
  static constexpr bool kCounts = false;

  explicit Rmsprop(const RmspropAttributes& a)
      : added(RegularizationOf(a)), alpha(a.alpha), epsilon(a.epsilon), momentum(a.momentum) {}

  Rmsprop At(double at_rate, int64_t) const {
    Rmsprop step = *this;
    step.rate = at_rate;
    return step;
  }

  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* x, V* y) const {
    const V g = added.Add(d, x[1], x[0]);
    const V v = hn::Add(Times(d, alpha, x[2]), hn::Mul(Times(d, 1 - alpha, g), g));
    V squared = v;  // or the variance
    if constexpr (kCentered) {
      const V m = hn::Add(Times(d, alpha, x[kMean]), Times(d, 1 - alpha, g));
      squared = hn::Sub(v, hn::Mul(m, m));
      y[kMean - 1] = m;
    }
    const V zero = hn::Zero(d);
    const V root = hn::Sqrt(hn::IfThenElse(hn::Lt(squared, zero), zero, squared));
    V step = hn::Div(g, hn::Add(root, Constant(d, epsilon)));
    if constexpr (kMomentum) {
      step = hn::Add(step, Times(d, momentum, x[kBuffer]));
      y[kBuffer - 1] = step;
    }
    y[0] = hn::Sub(x[0], Times(d, rate, step));
    y[1] = v;
  }

  Added added;
  double alpha, epsilon, momentum;
  double rate = 0;
};

// Prepares kKernel of the rule that the attributes ask for.
template <template <class> class kKernel, class Added>
PreparedKernel PrepareRmspropWith(const KernelRequest& request, const RmspropAttributes& a) {
  if (a.centered) {
    return a.momentum != 0 ? kKernel<Rmsprop<Added, true, true>>::Prepare(request)
                           : kKernel<Rmsprop<Added, true, false>>::Prepare(request);
  }
  return a.momentum != 0 ? kKernel<Rmsprop<Added, false, true>>::Prepare(request)
                         : kKernel<Rmsprop<Added, false, false>>::Prepare(request);
}
template <template <class> class kKernel>
PreparedKernel PrepareRmsprop(const KernelRequest& request, const RmspropAttributes& a) {
  return RegularizationOf(a).adds() ? PrepareRmspropWith<kKernel, Regularization>(request, a)
                                    : PrepareRmspropWith<kKernel, NoRegularization>(request, a);
}

template <class Added>
struct Adagrad {
  using Attributes = AdagradAttributes;
  static constexpr size_t kStates = 1;
  static constexpr bool kCounts = true;

  explicit Adagrad(const AdagradAttributes& a)
      : added(RegularizationOf(a)), lr_decay(a.lr_decay), epsilon(a.epsilon) {}

  Adagrad At(double at_rate, int64_t steps) const {
    Adagrad step = *this;
    step.rate = at_rate / (1 + static_cast<double>(steps) * lr_decay);
    return step;
  }

  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* x, V* y) const {
    const V g = added.Add(d, x[1], x[0]);
    const V sum = hn::Add(x[2], hn::Mul(g, g));
    const V divisor = hn::Add(hn::Sqrt(sum), Constant(d, epsilon));
    y[0] = hn::Sub(x[0], hn::Div(Times(d, rate, g), divisor));
    y[1] = sum;
  }

  Added added;
  double lr_decay, epsilon;
  double rate = 0;
};

template <template <class> class kKernel>
PreparedKernel PrepareAdagrad(const KernelRequest& request, const AdagradAttributes& a) {
  return RegularizationOf(a).adds() ? kKernel<Adagrad<Regularization>>::Prepare(request)
                                    : kKernel<Adagrad<NoRegularization>>::Prepare(request);
}

KernelDef rmsprop() {
  KernelDef def = Optimizer<Rmsprop<NoRegularization, false, false>>::Define("cpu.rmsprop");
  def.prepare = [](const KernelRequest& request) {
    return PrepareRmsprop<Optimizer>(request, request.node.attributes.As<RmspropAttributes>());
  };
  return def;
}
KernelDef adagrad() {
  KernelDef def = Optimizer<Adagrad<NoRegularization>>::Define("cpu.adagrad");
  def.prepare = [](const KernelRequest& request) {
    return PrepareAdagrad<Optimizer>(request, request.node.attributes.As<AdagradAttributes>());
  };
  return def;
}
KernelDef rmsprop_by_product() {
  KernelDef def = UpdateByProduct<Rmsprop<NoRegularization, false, false>>::Define<OpId::rmsprop>(
      "cpu.rmsprop_by_product");
  def.prepare = [](const KernelRequest& request) {
    return PrepareRmsprop<UpdateByProduct>(request,
                                           request.node.body[1].attributes.As<RmspropAttributes>());
  };
  return def;
}
KernelDef adagrad_by_product() {
  KernelDef def =
      UpdateByProduct<Adagrad<NoRegularization>>::Define<OpId::adagrad>("cpu.adagrad_by_product");
  def.prepare = [](const KernelRequest& request) {
    return PrepareAdagrad<UpdateByProduct>(request,
                                           request.node.body[1].attributes.As<AdagradAttributes>());
  };
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(rmsprop)
CGRUN_CPU_KERNEL(adagrad)
CGRUN_CPU_KERNEL(rmsprop_by_product)
CGRUN_CPU_KERNEL(adagrad_by_product)

}  // namespace cgrun::cpu
#endif
