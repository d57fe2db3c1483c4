// oneDNN's axes [groups, filters of a group, channels of a group, …] and ours. In a depthwise
// convolution the second has one element, so that blocks of groups are blocks of our filters.
#include "src/kernels/onednn/grouped_weights.h"

#include <utility>

#include "src/base/check.h"
#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {
namespace {

// This is the one of oneDNN's axes that our weights do not have.
constexpr int kFiltersOfGroup = 1;
// Filters, channels, height, width: weights without groups.
constexpr int kPlainAxes = 4;

TensorType WithGroups(const TensorType& type, int64_t groups) {
  Shape::Dims dims = type.shape.dims();
  dims[0] = Dim(groups);
  dims.insert(dims.begin() + kFiltersOfGroup, Dim(type.shape[0].size / groups));
  return {type.dtype, Shape(dims)};
}

bool IsDepthwise(const TensorType& grouped) {
  return grouped.shape[1].size == 1 && grouped.shape[2].size == 1;
}

Layout WithGroups(const Layout& layout) {
  Layout grouped;
  for (int axis : layout.order) {
    grouped.order.push_back(axis == 0 ? 0 : axis + 1);
    if (axis == 0) grouped.order.push_back(kFiltersOfGroup);
  }
  for (const Layout::Block& block : layout.blocks) {
    grouped.blocks.push_back({block.axis == 0 ? 0 : block.axis + 1, block.size});
  }
  return grouped;
}

// If filters of a group are in blocks, there is no such layout.
std::optional<Layout> WithoutGroups(const Layout& grouped) {
  const auto ours = [](int axis) { return axis == 0 ? 0 : axis - 1; };
  Layout layout;
  for (int axis : grouped.order) {
    if (axis != kFiltersOfGroup) layout.order.push_back(ours(axis));
  }
  for (const Layout::Block& block : grouped.blocks) {
    if (block.axis == kFiltersOfGroup) return std::nullopt;
    layout.blocks.push_back({ours(block.axis), block.size});
  }
  return layout;
}

}  // namespace

dnnl::memory::desc DescribeWeights(const TensorType& type, int64_t groups, const Layout* layout) {
  if (groups == 1) return layout == nullptr ? DescribeAny(type) : Describe(type, *layout);
  const TensorType grouped = WithGroups(type, groups);
  if (!IsDepthwise(grouped)) {
    CGRUN_CHECK(layout == nullptr || layout->IsPlain())
        << "weights of " << groups << " groups in the layout " << layout->ToString();
    return Describe(grouped, Layout());
  }
  return layout == nullptr ? DescribeAny(grouped) : Describe(grouped, WithGroups(*layout));
}

std::optional<Layout> WeightLayoutOf(const dnnl::memory::desc& desc) {
  const std::optional<Layout> layout = LayoutOf(desc);
  if (!layout || desc.data.ndims == kPlainAxes) return layout;
  return WithoutGroups(*layout);
}

}  // namespace cgrun::onednn
