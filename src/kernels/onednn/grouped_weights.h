// Weights of convolutions with groups: oneDNN wants the groups as an axis of their own, ours have
// four axes.
#ifndef CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_
#define CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_

#include <cstdint>
#include <dnnl.hpp>
#include <optional>

#include "src/ir/tensor_type.h"

namespace cgrun::onednn {

// Weights [filters, channels of a group, …] for oneDNN, which is to choose their layout where
// `layout` is null. Where groups have several filters or channels, they are always plain.
dnnl::memory::desc DescribeWeights(const TensorType& type, int64_t groups, const Layout* layout);

// Our layout of weights so described; nothing where they have none.
std::optional<Layout> WeightLayoutOf(const dnnl::memory::desc& desc);

}  // namespace cgrun::onednn

#endif  // CGRUN_KERNELS_ONEDNN_GROUPED_WEIGHTS_H_
