// An activation that the kernel of a sum applies before it writes it. Included once for each
// target.
#if defined(CGRUN_KERNELS_CPU_ACTIVATION_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_ACTIVATION_H_
#undef CGRUN_KERNELS_CPU_ACTIVATION_H_
#else
#define CGRUN_KERNELS_CPU_ACTIVATION_H_
#endif

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/ir/signature.h"
#include "src/kernels/cpu/sums.h"
#include "src/ops/leaky_relu.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

struct Activation {
  enum class Kind { kNone, kRelu, kLeakyRelu };

  Kind kind = Kind::kNone;
  float slope = 0;

  // Of the second operator of a fused node; none of other nodes, and of other operators.
  static Activation In(const NodeSignature& node) {
    if (node.body.size() < 2) return {};
    const FusedOperator& second = node.body[1];
    if (second.op == OpId::relu) return {Kind::kRelu};
    if (second.op != OpId::leaky_relu) return {};
    return {Kind::kLeakyRelu,
            static_cast<float>(second.attributes.As<LeakyReluAttributes>().slope)};
  }

  HWY_INLINE VF32 Of(VF32 y) const {
    const F32 d;
    if (kind == Kind::kNone) return y;
    const VF32 below = kind == Kind::kRelu ? hn::Zero(d) : hn::Mul(hn::Set(d, slope), y);
    return hn::IfThenElse(hn::Lt(y, hn::Zero(d)), below, y);  // a NaN is not less than 0
  }
};

// Whether a fused node is `first` of all its inputs, in their order, with an activation behind it.
inline bool IsActivated(const NodeSignature& node, OpId first) {
  if (node.body.size() != 2 || node.body[0].op != first) return false;
  std::vector<int> inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  return node.body[0].operands == inputs && node.body[1].operands == std::vector<int>{-1} &&
         Activation::In(node).kind != Activation::Kind::kNone;
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_ACTIVATION_H_
