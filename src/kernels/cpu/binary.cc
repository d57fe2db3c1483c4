// Computes add, sub, mul, div, min, max with its gradient, and bias.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/binary.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/broadcasting.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Plus {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Minus {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct Times {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Over {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

// IEEE 754-2019's minimum and maximum: the sum of two operands is NaN where one of them is, and
// zeros are ordered by their signs.
struct Smaller {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    const V y = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::IfThenElse(hn::Lt(a, b), a, b));
    return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), y);
  }
};

struct Larger {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    const V y = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::IfThenElse(hn::Gt(a, b), a, b));
    return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), y);
  }
};

struct MaxGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V larger, V smaller, V dy) const {
    const V half = hn::Mul(dy, hn::Set(d, static_cast<hn::TFromD<D>>(0.5)));
    const V dx = hn::IfThenElse(hn::Eq(larger, smaller), half, dy);
    return hn::IfThenElse(hn::Lt(larger, smaller), hn::Zero(d), dx);
  }
};

PreparedKernel PrepareBias(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  std::vector<int64_t> channels(static_cast<size_t>(x.rank()), 0);
  channels[1] = x[1].size > 1 ? 1 : 0;
  return Broadcasting<Plus>::PrepareStrided(request, {RowMajorStrides(x), channels});
}

KernelDef add() { return Broadcasting<Plus>::Define("cpu.add"); }
KernelDef sub() { return Broadcasting<Minus>::Define("cpu.sub"); }
KernelDef mul() { return Broadcasting<Times>::Define("cpu.mul"); }
KernelDef div() { return Broadcasting<Over>::Define("cpu.div"); }
KernelDef min() { return Broadcasting<Smaller>::Define("cpu.min"); }
KernelDef max() { return Broadcasting<Larger>::Define("cpu.max"); }
KernelDef max_grad() { return Broadcasting<MaxGrad, 3>::Define("cpu.max_grad"); }
KernelDef bias() {
  return PerElement({.name = "cpu.bias", .supports = AllFloat, .prepare = PrepareBias});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(add)
CGRUN_CPU_KERNEL(sub)
CGRUN_CPU_KERNEL(mul)
CGRUN_CPU_KERNEL(div)
CGRUN_CPU_KERNEL(min)
CGRUN_CPU_KERNEL(max)
CGRUN_CPU_KERNEL(max_grad)
CGRUN_CPU_KERNEL(bias)

}  // namespace cgrun::cpu
#endif
