// What stands behind a convolution in one node, as oneDNN's post-operators: they run on its sums
// while these are in registers. Of a batch_norm it is the clip alone: the rest is in the weights
// then (folded_norm.h).
#ifndef CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
#define CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "src/kernels/kernel.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {

struct PostOperator {
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;        // of an activation
  std::optional<Argument> operand;  // of binary ones: the second; its kind is set by its place
};

// Those of a node that IsConvChain(), whose result lies in layout `y` (null: plain). Nothing
// where one of them has none that gives what our own kernels give.
std::optional<std::vector<PostOperator>> PostOperatorsOf(const NodeSignature& node,
                                                         const Layout* y);

dnnl::post_ops Described(const std::vector<PostOperator>& operators);
// The same where a tensor is added that lies in the result's place when the primitive begins.
dnnl::post_ops DescribedInPlace(const std::vector<PostOperator>& operators);
// The operand of the node that is added, or -1.
int AddedOperand(const std::vector<PostOperator>& operators);
void AddArguments(const std::vector<PostOperator>& operators, std::vector<Argument>& arguments);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
