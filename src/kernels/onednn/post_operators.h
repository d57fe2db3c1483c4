// What stands behind a convolution in one node, as oneDNN's post-operators: they run on its sums
// while these are in registers. Of a batch_norm it is the clip alone: the rest is in the weights
// then (folded_norm.h).
#ifndef CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
#define CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::onednn {

struct PostOperator {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;  // of an activation …
  float alpha = 0, beta = 0;
  int added = -1;  // … or the operand of the node that is added
};

// Those of a node that IsConvChain(). Nothing where one of them has none that gives what our own
// kernels give.
std::optional<std::vector<PostOperator>> PostOperatorsOf(const NodeSignature& node);

// What is added lies in the result's place when the primitive begins: so oneDNN begins its sums
// with it, which takes less time than to read it behind them, and less memory.
dnnl::post_ops Described(const std::vector<PostOperator>& operators);
// The operand that is added, or -1.
int AddedOperand(const std::vector<PostOperator>& operators);

// `conv`, which adds to what lies in the result's place, behind a copy of operand `added` to there,
// where that is somewhere else. As it is where `added` is -1.
PreparedKernel BehindCopy(int added, const KernelRequest& request, PreparedKernel conv);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
