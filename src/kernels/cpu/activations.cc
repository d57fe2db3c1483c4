// Computes relu, leaky_relu, sigmoid, tanh, softplus and their gradients.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/activations.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/vector_math.h"
#include "src/ops/leaky_relu.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Relu {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);  // a NaN is not less than 0
  }
};

struct ReluGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
  }
};

struct Sloped {
  explicit Sloped(const NodeSignature& node)
      : slope(node.attributes.As<LeakyReluAttributes>().slope) {}
  double slope;
};

struct LeakyRelu : Sloped {
  using Sloped::Sloped;
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(Constant(d, slope), x), x);
  }
};

struct LeakyReluGrad : Sloped {
  using Sloped::Sloped;
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V t, V dy) const {
    return hn::IfThenElse(hn::Gt(t, hn::Zero(d)), dy, hn::Mul(Constant(d, slope), dy));
  }
};

struct Sigmoid : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Logistic(d, x);
  }
};

struct SigmoidGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::Mul(hn::Mul(dy, y), hn::Sub(Constant(d, 1), y));
  }
};

struct Tanh : Elaborate {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Tanh(d, x);
  }
};

struct TanhGrad {
  static constexpr bool kKeepsZero = true;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    return hn::Mul(dy, hn::NegMulAdd(y, y, Constant(d, 1)));
  }
};

struct Softplus : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V rest = hn::Log1p(d, ExponentialOfNegative(d, hn::Neg(hn::Abs(x))));
    return hn::Add(rest, hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x));
  }
};

struct SoftplusGrad : Elaborate {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V dy) const {
    // A difference from 0 is no −0, as the reference's −expm1(−0) is none.
    return hn::Mul(dy, hn::Sub(hn::Zero(d), hn::Expm1(d, hn::Neg(y))));
  }
};

KernelDef relu() { return Unary<Relu>::Define("cpu.relu"); }
KernelDef relu_grad() { return Binary<ReluGrad>::Define("cpu.relu_grad"); }
KernelDef leaky_relu() { return Unary<LeakyRelu>::Define("cpu.leaky_relu"); }
KernelDef leaky_relu_grad() { return Binary<LeakyReluGrad>::Define("cpu.leaky_relu_grad"); }
KernelDef sigmoid() { return Unary<Sigmoid>::Define("cpu.sigmoid"); }
KernelDef sigmoid_grad() { return Binary<SigmoidGrad>::Define("cpu.sigmoid_grad"); }
KernelDef tanh() { return Unary<Tanh>::Define("cpu.tanh"); }
KernelDef tanh_grad() { return Binary<TanhGrad>::Define("cpu.tanh_grad"); }
KernelDef softplus() { return Unary<Softplus>::Define("cpu.softplus"); }
KernelDef softplus_grad() { return Binary<SoftplusGrad>::Define("cpu.softplus_grad"); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(relu)
CGRUN_CPU_KERNEL(relu_grad)
CGRUN_CPU_KERNEL(leaky_relu)
CGRUN_CPU_KERNEL(leaky_relu_grad)
CGRUN_CPU_KERNEL(sigmoid)
CGRUN_CPU_KERNEL(sigmoid_grad)
CGRUN_CPU_KERNEL(tanh)
CGRUN_CPU_KERNEL(tanh_grad)
CGRUN_CPU_KERNEL(softplus)
CGRUN_CPU_KERNEL(softplus_grad)

}  // namespace cgrun::cpu
#endif
