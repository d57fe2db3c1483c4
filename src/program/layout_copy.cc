// LayoutCopy: a layout is the plain tensor with its axes cut into blocks and put into another
// order.
#include "src/program/layout_copy.h"

#include <numeric>
#include <vector>

#include "src/base/check.h"

namespace cgrun {
namespace {

// Elements of the plain tensor by which each part of the layout steps: outer axes, then blocks.
StridedSpace<1> SpaceOf(const Shape& shape, const Layout& layout) {
  const std::vector<int64_t> plain = RowMajorStrides(shape);
  std::vector<int64_t> within(plain.size(), 1);  // of a block of each axis, what is not cut off yet
  for (const Layout::Block& block : layout.blocks) {
    within[static_cast<size_t>(block.axis)] *= block.size;
  }
  std::vector<int> order = layout.order;
  if (order.empty()) {
    order.resize(plain.size());
    std::iota(order.begin(), order.end(), 0);
  }
  std::vector<int64_t> sizes, strides;
  for (const int axis : order) {
    const size_t a = static_cast<size_t>(axis);
    sizes.push_back(shape[axis].size / within[a]);
    strides.push_back(plain[a] * within[a]);
  }
  for (const Layout::Block& block : layout.blocks) {
    const size_t a = static_cast<size_t>(block.axis);
    within[a] /= block.size;
    sizes.push_back(block.size);
    strides.push_back(plain[a] * within[a]);
  }
  return MakeSpace<1>(sizes, {strides});
}

}  // namespace

LayoutCopy::LayoutCopy(const TensorType& type, const Layout& layout)
    : space_(SpaceOf(type.shape, layout)), bytes_(static_cast<size_t>(SizeOf(type.dtype))) {
  CGRUN_CHECK(PaddedElements(type.shape, layout) == type.shape.Elements()) << layout.ToString();
}

}  // namespace cgrun
