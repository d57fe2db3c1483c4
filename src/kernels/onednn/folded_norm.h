// Folds a batch_norm by running statistics that stands behind a convolution in one node. Before the
// convolution runs, the factors of the norm go into the weights and its summands into the bias, in
// the workspace. In bf16, such weights are rounded once more.
//
// In two cases of bf16 the workspace has factors and summands alone, and the sums meet them in
// registers. In one case the processor multiplies tiles, whose kernels do that for little. In the
// other there are more weights than results, so that bits of bf16 depend on the batch that a
// program is made for.
//
// Either way no second copy of the weights is held, and the parameters may change from step to
// step.
#ifndef CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_
#define CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_

#include <cstdint>

#include "src/kernels/kernel.h"

namespace cgrun::onednn {

// Returns whether there is a batch_norm behind the convolution of a fused node.
bool HasNorm(const NodeSignature& node);
// Returns whether it can be folded: it is one by running statistics, right behind the convolution.
bool CanFold(const NodeSignature& node);
// Returns whether the norm goes into the weights. If not, it meets the sums.
bool FoldsIntoWeights(const NodeSignature& node);
// Returns whether it can go where it is to go with weights in this layout: behind the sums always,
// into the weights where whole filters, or whole blocks of them, lie side by side.
bool CanFoldInto(const NodeSignature& node, const Layout& weights);

// Says where the workspace has the factors, or the weights multiplied by them, and the summands, in
// bytes. Without a batch_norm, `end` is 0.
struct FoldedPlaces {
  int64_t factors = 0, summands = 0, end = 0;
};
FoldedPlaces PlacesOf(const NodeSignature& node, const Layout& weights);

// Estimates how long folding takes.
double FoldingSeconds(const NodeSignature& node);

// `conv`, which reads what is at these places, behind the folding.
PreparedKernel BehindFolding(const KernelRequest& request, PreparedKernel conv);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_
