// A batch_norm by running statistics that stands behind a convolution in one node: its factors go
// into the weights and its summands into the bias, in the workspace, before the convolution runs.
// So no second copy of the weights is held, and the parameters may change from step to step.
#ifndef CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_
#define CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_

#include <cstdint>

#include "src/kernels/kernel.h"

namespace cgrun::onednn {

// Whether there is a batch_norm behind the convolution of a fused node.
bool HasNorm(const NodeSignature& node);
// Whether it can be folded: it is one by running statistics, behind a convolution of f32.
bool CanFold(const NodeSignature& node);
// … and into weights in this layout: whole filters, or whole blocks of them, side by side.
bool CanFoldInto(const NodeSignature& node, const Layout& weights);

// Where the workspace has what runs in place of weights and bias, in bytes; `end` is 0 without a
// batch_norm.
struct FoldedPlaces {
  int64_t weights = 0, bias = 0, end = 0;
};
FoldedPlaces PlacesOf(const NodeSignature& node, const Layout& weights);

// How long folding takes.
double FoldingSeconds(const NodeSignature& node);

// `conv`, which reads weights and bias at these places, behind the folding.
PreparedKernel BehindFolding(const KernelRequest& request, PreparedKernel conv);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_FOLDED_NORM_H_
