// Computes sgd, adam and adamw, alone and behind the product that makes their gradient.
#include "src/kernels/cpu/targets.h"
#include "src/ops/optimizer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/optimizers.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/optimizer_rule.h"
#include "src/kernels/cpu/update_by_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// `Added` is Regularization or NoRegularization.
template <bool kMomentum, bool kNesterov, class Added>
struct Sgd {
  using Attributes = SgdAttributes;
  static constexpr size_t kStates = kMomentum ? 1 : 0;
  static constexpr bool kCounts = false;

  explicit Sgd(const SgdAttributes& a) : added{RegularizationOf(a)}, momentum(a.momentum) {}

  Sgd At(double at_rate, int64_t) const {
    Sgd step = *this;
    step.rate = at_rate;
    return step;
  }

  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* x, V* y) const {
    const V g = added.Add(d, x[1], x[0]);
    V step = g;
    if constexpr (kMomentum) {
      const V v = hn::Add(Times(d, momentum, x[2]), g);
      step = kNesterov ? hn::Add(g, Times(d, momentum, v)) : v;
      y[1] = v;
    }
    y[0] = hn::Sub(x[0], Times(d, rate, step));
  }

  Added added;
  double momentum;
  double rate = 0;
};

// Prepares kKernel of the rule that the attributes ask for.
template <template <class> class kKernel, class Added>
PreparedKernel PrepareSgdWith(const KernelRequest& request, const SgdAttributes& a) {
  if (a.momentum == 0) return kKernel<Sgd<false, false, Added>>::Prepare(request);
  return a.nesterov ? kKernel<Sgd<true, true, Added>>::Prepare(request)
                    : kKernel<Sgd<true, false, Added>>::Prepare(request);
}
template <template <class> class kKernel>
PreparedKernel PrepareSgd(const KernelRequest& request, const SgdAttributes& a) {
  return RegularizationOf(a).adds() ? PrepareSgdWith<kKernel, Regularization>(request, a)
                                    : PrepareSgdWith<kKernel, NoRegularization>(request, a);
}

// Holds what an element's update needs at one step of adam or adamw.
template <class Added>
struct AdamStep {
  Added added;
  double beta1, beta2, epsilon;
  double rate, kept, correction;

  template <class D, class V>
  HWY_INLINE void operator()(D d, const V* x, V* y) const {
    const V g = added.Add(d, x[1], x[0]);
    const V m = hn::Add(Times(d, beta1, x[2]), Times(d, 1 - beta1, g));
    const V v = hn::Add(Times(d, beta2, x[3]), hn::Mul(Times(d, 1 - beta2, g), g));
    const V deviation = Times(d, correction, hn::Sqrt(v));
    const V step = hn::Div(Times(d, rate, m), hn::Add(deviation, Constant(d, epsilon)));
    y[0] = hn::Sub(Times(d, kept, x[0]), step);
    y[1] = m;
    y[2] = v;
  }
};

template <class A, class Added>
struct Adam {
  using Attributes = A;
  static constexpr size_t kStates = 2;
  static constexpr bool kCounts = true;
  static constexpr bool kDecoupled = std::is_same_v<A, AdamwAttributes>;

  explicit Adam(const A& a)
      : added(RegularizationOf(a)),
        beta1(a.beta1),
        beta2(a.beta2),
        epsilon(a.epsilon),
        decoupled_decay(kDecoupled ? a.weight_decay : 0) {}

  AdamStep<Added> At(double rate, int64_t steps) const {
    const auto t = static_cast<double>(steps + 1);
    return {added,
            beta1,
            beta2,
            epsilon,
            rate / (1 - std::pow(beta1, t)),
            1 - rate * decoupled_decay,
            1 / std::sqrt(1 - std::pow(beta2, t))};
  }

  // For adamw, the gradient does not include the decay.
  static Regularization RegularizationOf(const A& a) {
    return {a.l1, kDecoupled ? a.l2 : a.weight_decay + a.l2};
  }

  Added added;
  double beta1, beta2, epsilon;
  double decoupled_decay;
};

// Prepares kKernel of the rule that the attributes ask for.
template <template <class> class kKernel, class A>
PreparedKernel PrepareAdam(const KernelRequest& request, const A& a) {
  return Adam<A, Regularization>::RegularizationOf(a).adds()
             ? kKernel<Adam<A, Regularization>>::Prepare(request)
             : kKernel<Adam<A, NoRegularization>>::Prepare(request);
}

KernelDef sgd() {
  KernelDef def = Optimizer<Sgd<false, false, NoRegularization>>::Define("cpu.sgd");
  def.prepare = [](const KernelRequest& request) {
    return PrepareSgd<Optimizer>(request, request.node.attributes.As<SgdAttributes>());
  };
  return def;
}
KernelDef sgd_by_product() {
  KernelDef def =
      UpdateByProduct<Sgd<false, false, NoRegularization>>::Define<OpId::sgd>("cpu.sgd_by_product");
  def.prepare = [](const KernelRequest& request) {
    return PrepareSgd<UpdateByProduct>(request,
                                       request.node.body[1].attributes.As<SgdAttributes>());
  };
  return def;
}
template <class A>
KernelDef Alone(std::string_view name) {
  KernelDef def = Optimizer<Adam<A, NoRegularization>>::Define(name);
  def.prepare = [](const KernelRequest& request) {
    return PrepareAdam<Optimizer>(request, request.node.attributes.As<A>());
  };
  return def;
}
template <class A, OpId kOptimizer>
KernelDef ByProduct(std::string_view name) {
  KernelDef def = UpdateByProduct<Adam<A, NoRegularization>>::template Define<kOptimizer>(name);
  def.prepare = [](const KernelRequest& request) {
    return PrepareAdam<UpdateByProduct>(request, request.node.body[1].attributes.As<A>());
  };
  return def;
}
KernelDef adam() { return Alone<AdamAttributes>("cpu.adam"); }
KernelDef adamw() { return Alone<AdamwAttributes>("cpu.adamw"); }
KernelDef adam_by_product() { return ByProduct<AdamAttributes, OpId::adam>("cpu.adam_by_product"); }
KernelDef adamw_by_product() {
  return ByProduct<AdamwAttributes, OpId::adamw>("cpu.adamw_by_product");
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(sgd)
CGRUN_CPU_KERNEL(adam)
CGRUN_CPU_KERNEL(adamw)
CGRUN_CPU_KERNEL(sgd_by_product)
CGRUN_CPU_KERNEL(adam_by_product)
CGRUN_CPU_KERNEL(adamw_by_product)

}  // namespace cgrun::cpu
#endif
