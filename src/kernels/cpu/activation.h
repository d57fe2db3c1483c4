// Describes an activation that a fused node applies to its sums.
#ifndef CGRUN_KERNELS_CPU_ACTIVATION_H_
#define CGRUN_KERNELS_CPU_ACTIVATION_H_

#include <numeric>
#include <vector>

#include "src/ir/signature.h"
#include "src/ops/leaky_relu.h"

namespace cgrun::cpu {

struct Activation {
  enum class Kind { kNone, kRelu, kLeakyRelu };

  Kind kind = Kind::kNone;
  double slope = 0;

  // Returns the activation that the second operator of a fused node is. If the node is not fused,
  // or if that operator is not an activation, the kind is kNone.
  static Activation In(const NodeSignature& node) {
    if (node.body.size() < 2) return {};
    const FusedOperator& second = node.body[1];
    if (second.op == OpId::relu) return {Kind::kRelu};
    if (second.op != OpId::leaky_relu) return {};
    return {Kind::kLeakyRelu, second.attributes.As<LeakyReluAttributes>().slope};
  }
};

// Returns whether a fused node is `first` of all its inputs, in their order, with an activation
// behind it.
inline bool IsActivated(const NodeSignature& node, OpId first) {
  if (node.body.size() != 2 || node.body[0].op != first) return false;
  std::vector<int> inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  return node.body[0].operands == inputs && node.body[1].operands == std::vector<int>{-1} &&
         Activation::In(node).kind != Activation::Kind::kNone;
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_ACTIVATION_H_
