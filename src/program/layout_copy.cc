// LayoutCopy: a layout is the plain tensor with its axes cut into blocks and put into another
// order.
#include "src/program/layout_copy.h"

#include <cstring>
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

// If the size is known to the compiler, the copies are moves and not calls.
template <size_t kBytes>
void CopyElements(std::byte* to, size_t to_step, const std::byte* from, size_t from_step,
                  size_t count) {
  for (size_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kBytes);
}

}  // namespace

LayoutCopy::LayoutCopy(const TensorType& type, const Layout& layout)
    : bytes_(static_cast<size_t>(SizeOf(type.dtype))) {
  CGRUN_CHECK(PaddedElements(type.shape, layout) == type.shape.Elements()) << layout.ToString();
  runs_ = SpaceOf(type.shape, layout);
  run_ = static_cast<size_t>(runs_.inner.size);
  stride_ = static_cast<size_t>(runs_.inner.strides[0]) * bytes_;
  runs_.inner = {};
}

void LayoutCopy::Copy(std::byte* to, size_t to_step, const std::byte* from, size_t from_step,
                      size_t count) const {
  switch (bytes_) {
    case 1:
      return CopyElements<1>(to, to_step, from, from_step, count);
    case 2:
      return CopyElements<2>(to, to_step, from, from_step, count);
    case 4:
      return CopyElements<4>(to, to_step, from, from_step, count);
    case 8:
      return CopyElements<8>(to, to_step, from, from_step, count);
    default:
      CGRUN_CHECK(false) << "elements of " << bytes_ << " bytes";
  }
}

}  // namespace cgrun
