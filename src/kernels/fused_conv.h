// Convolutions with an activation behind them, as fused nodes have them.
#ifndef CGRUN_KERNELS_FUSED_CONV_H_
#define CGRUN_KERNELS_FUSED_CONV_H_

#include <numeric>

#include "src/ir/signature.h"

namespace cgrun {

// Whether a fused node is a convolution of its inputs, in their order, with something behind it.
inline bool IsFusedConv(const NodeSignature& node) {
  if (node.body.size() != 2 || node.body[0].op != OpId::conv) return false;
  std::vector<int> inputs(node.inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  return node.body[0].operands == inputs && node.body[1].operands == std::vector<int>{-1};
}

}  // namespace cgrun

#endif  // CGRUN_KERNELS_FUSED_CONV_H_
