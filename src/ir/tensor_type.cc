#include "src/ir/tensor_type.h"

#include <cctype>
#include <numeric>

#include "src/base/check.h"
#include "src/base/host_tensor.h"

namespace cgrun {
namespace {

constexpr int64_t kLargestBlock = 1 << 20;  // far beyond any vector

std::vector<int> FullOrder(const Shape& shape, const Layout& layout) {
  if (!layout.order.empty()) return layout.order;
  std::vector<int> order(static_cast<size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Returns the product of the block sizes of one axis.
int64_t BlockOf(const Layout& layout, int axis) {
  int64_t size = 1;
  for (const Layout::Block& block : layout.blocks) {
    if (block.axis == axis) size *= block.size;
  }
  return size;
}

// Returns the number of blocks of an axis, rounded up.
int64_t OuterSize(const Shape& shape, const Layout& layout, int axis) {
  const int64_t block = BlockOf(layout, axis);
  return (shape[axis].size + block - 1) / block;
}

}  // namespace

std::string TensorType::ToString() const { return std::string(Name(dtype)) + shape.ToString(); }

std::string Layout::ToString() const {
  if (IsPlain()) return "plain";
  std::string out;
  for (int axis : order) {
    const bool blocked = BlockOf(*this, axis) > 1;
    out += static_cast<char>((blocked ? 'A' : 'a') + axis);
  }
  for (const Block& block : blocks) {
    out += std::to_string(block.size) + static_cast<char>('a' + block.axis);
  }
  return out;
}

bool Layout::Parse(const std::string& text, Layout* layout) {
  *layout = Layout();
  if (text == "plain") return true;
  size_t i = 0;
  for (; i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])); ++i) {
    layout->order.push_back(std::tolower(static_cast<unsigned char>(text[i])) - 'a');
  }
  while (i < text.size()) {
    Block block{0, 0};
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])); ++i) {
      block.size = block.size * 10 + (text[i] - '0');
      if (block.size > kLargestBlock) return false;
    }
    if (i >= text.size() || block.size < 2 || !std::islower(static_cast<unsigned char>(text[i]))) {
      return false;
    }
    block.axis = text[i++] - 'a';
    layout->blocks.push_back(block);
  }
  std::vector<bool> seen(layout->order.size());
  for (int axis : layout->order) {
    if (axis >= static_cast<int>(seen.size()) || seen[static_cast<size_t>(axis)]) return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  for (const Block& block : layout->blocks) {
    if (block.axis >= static_cast<int>(seen.size())) return false;
  }
  return !layout->order.empty();
}

int64_t PaddedElements(const Shape& shape, const Layout& layout) {
  CGRUN_CHECK(shape.IsBound()) << shape.ToString() << " has no batch size yet";
  int64_t elements = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    elements *= OuterSize(shape, layout, axis) * BlockOf(layout, axis);
  }
  return elements;
}

int64_t ByteSize(const TensorType& type, const Layout& layout) {
  return PaddedElements(type.shape, layout) * SizeOf(type.dtype);
}

std::optional<int64_t> CheckedByteSize(const TensorType& type, const Layout& layout) {
  if (!layout.IsPlain() && static_cast<int>(layout.order.size()) != type.shape.rank()) {
    return std::nullopt;
  }
  std::vector<int64_t> padded;
  for (const Dim& dim : type.shape) {
    if (dim.batch || dim.size < 0) return std::nullopt;
    int64_t block = 1, outer = 0;
    for (const Layout::Block& inner : layout.blocks) {
      const bool here = inner.axis == static_cast<int>(padded.size());
      if (here && __builtin_mul_overflow(block, inner.size, &block)) return std::nullopt;
    }
    if (__builtin_add_overflow(dim.size, block - 1, &outer)) return std::nullopt;
    padded.push_back(outer / block * block);
  }
  return CheckedByteSize(type.dtype, padded);
}

int64_t ElementOffset(const Shape& shape, const Layout& layout, const std::vector<int64_t>& index) {
  int64_t offset = 0;
  for (int axis : FullOrder(shape, layout)) {
    const int64_t outer = index[static_cast<size_t>(axis)] / BlockOf(layout, axis);
    offset = offset * OuterSize(shape, layout, axis) + outer;
  }
  std::vector<int64_t> divisor(index.size());
  for (size_t axis = 0; axis < index.size(); ++axis) {
    divisor[axis] = BlockOf(layout, static_cast<int>(axis));
  }
  for (const Layout::Block& block : layout.blocks) {
    const size_t axis = static_cast<size_t>(block.axis);
    const int64_t within = index[axis] % divisor[axis];
    divisor[axis] /= block.size;
    offset = offset * block.size + within / divisor[axis];
  }
  return offset;
}

}  // namespace cgrun
