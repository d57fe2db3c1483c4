// The fused nodes with a convolution in them for which devices have kernels.
#ifndef CGRUN_KERNELS_FUSED_CONV_H_
#define CGRUN_KERNELS_FUSED_CONV_H_

#include <algorithm>
#include <numeric>
#include <vector>

#include "src/ir/signature.h"

namespace cgrun {

// Returns whether a fused node is a convolution of its first inputs, in their order, with a chain
// of operators behind it, each of which reads the result of the one before, and inputs beside it.
inline bool IsConvChain(const NodeSignature& node) {
  if (node.body.size() < 2 || node.body[0].op != OpId::conv) return false;
  std::vector<int> inputs(node.body[0].operands.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  if (node.body[0].operands != inputs) return false;
  for (size_t i = 1; i < node.body.size(); ++i) {
    const std::vector<int>& operands = node.body[i].operands;
    const auto results = std::ranges::count_if(operands, [](int operand) { return operand < 0; });
    if (results != 1 || std::ranges::count(operands, -static_cast<int>(i)) != 1) return false;
  }
  return true;
}

// … which read nothing beside it.
inline bool BeginsWithConv(const NodeSignature& node) {
  return IsConvChain(node) &&
         std::ranges::all_of(node.body.begin() + 1, node.body.end(),
                             [](const FusedOperator& op) { return op.operands.size() == 1; });
}

// Returns whether it is a max_pool_grad of inputs 0 and 1, whose result operator `op` alone reads,
// as its operand −1 of `operands`.
inline bool IsUnpooled(const NodeSignature& node, OpId op, const std::vector<int>& operands) {
  return node.body.size() == 2 && node.body[0].op == OpId::max_pool_grad &&
         node.body[0].operands == std::vector<int>{0, 1} && node.body[1].op == op &&
         node.body[1].operands == operands;
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_FUSED_CONV_H_
