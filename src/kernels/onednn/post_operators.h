// Makes oneDNN's post-operators from the operators behind a convolution in one node. They run on
// its sums while these are in registers. If a batch_norm is in the weights (folded_norm.h), its
// only post-operator is the clip.
#ifndef CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
#define CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_

#include <dnnl.hpp>
#include <optional>
#include <vector>

#include "src/kernels/kernel.h"
#include "src/kernels/onednn/folded_norm.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {

struct PostOperator {
  // The algorithm is an activation, or it takes one number for each filter.
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;
  int added = -1;  // the operand of the node that is added, where there is no algorithm

  // Returns whether it takes the factors or the summands of a batch_norm.
  bool of_filters() const {
    return algorithm == dnnl::algorithm::binary_mul || algorithm == dnnl::algorithm::binary_add;
  }
};

// Returns the post-operators of a node that IsConvChain(). If an operator has none that gives what
// our own kernels give, returns nothing.
std::optional<std::vector<PostOperator>> PostOperatorsOf(const NodeSignature& node);

// When the primitive begins, the tensor that is added lies in the result's place. oneDNN therefore
// begins its sums with it. That takes less time than to read it behind them, and less memory.
dnnl::post_ops Described(const std::vector<PostOperator>& operators, int64_t filters);
// The arguments that those with a number a filter read, which are in the workspace.
void AddFoldedArguments(const std::vector<PostOperator>& operators, int64_t filters,
                        const FoldedPlaces& places, int workspace,
                        std::vector<Argument>& arguments);
// The operand that is added, or -1.
int AddedOperand(const std::vector<PostOperator>& operators);

// Returns `conv`, which adds to what lies in the result's place, behind a copy of operand `added`
// to there. If the operand lies there already, nothing is copied. If `added` is -1, returns `conv`
// as it is.
PreparedKernel BehindCopy(int added, const KernelRequest& request, PreparedKernel conv);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_POST_OPERATORS_H_
