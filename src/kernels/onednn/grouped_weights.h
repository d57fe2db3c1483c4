// Converts weights of convolutions with groups. oneDNN wants the groups as an axis of their own;
// ours have four axes.
#ifndef CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_
#define CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_

#include <cstdint>
#include <dnnl.hpp>
#include <optional>

#include "src/ir/tensor_type.h"

namespace cgrun::onednn {

// Describes weights [filters, channels of a group, …] to oneDNN. If `layout` is null, oneDNN is to
// choose their layout. If groups have several filters or channels, the weights are always plain.
dnnl::memory::desc DescribeWeights(const TensorType& type, int64_t groups, const Layout* layout);

// Returns our layout of weights that are described so. If they have none, returns nothing.
std::optional<Layout> WeightLayoutOf(const dnnl::memory::desc& desc);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_
