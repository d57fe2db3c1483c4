// Compares copies between plain tensors and their layouts with ElementOffset(), element by element.
#include "src/program/layout_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "src/base/host_tensor.h"

namespace cgrun {
namespace {

// Returns the bytes of `tensor` in a layout, one element after another.
std::vector<std::byte> Expected(const HostTensor& tensor, const Layout& layout) {
  const size_t size = static_cast<size_t>(SizeOf(tensor.dtype()));
  std::vector<std::byte> laid(tensor.bytes().size());
  std::vector<int64_t> index(static_cast<size_t>(tensor.shape().rank()));
  for (size_t plain = 0; plain < laid.size(); plain += size) {
    const auto to = static_cast<size_t>(ElementOffset(tensor.shape(), layout, index)) * size;
    std::copy_n(&tensor.bytes()[plain], size, &laid[to]);
    for (int axis = tensor.shape().rank() - 1; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < tensor.shape()[axis].size) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
  return laid;
}

// Elements that are all different, as far as their type goes.
HostTensor Numbered(DType dtype, const Shape& shape) {
  HostTensor tensor(dtype, shape);
  for (size_t i = 0; i < tensor.bytes().size(); ++i) {
    tensor.bytes()[i] = static_cast<std::byte>(i * 37 + i / 251);
  }
  return tensor;
}

TEST(LayoutCopy, GoesThereAndBackInPieces) {
  const struct {
    DType dtype;
    Shape shape;
    const char* layout;
  } cases[] = {
      {DType::kF32, {32, 48, 3, 3}, "ABcd16b16a"},   {DType::kF32, {32, 3, 7, 7}, "Acdb16a"},
      {DType::kBF16, {16, 32, 3, 5}, "ABcd8b16a2b"}, {DType::kF64, {8, 4, 1, 1}, "ABcd4b4a"},
      {DType::kF32, {5, 7, 2, 3}, "acdb"},           {DType::kF32, {3, 16, 8, 2, 2}, "aBCde8c8b"}};
  for (const auto& [dtype, shape, text] : cases) {
    Layout layout;
    ASSERT_TRUE(Layout::Parse(text, &layout)) << text;
    const HostTensor tensor = Numbered(dtype, shape);
    const LayoutCopy copy({dtype, shape}, layout);
    for (const size_t staging_bytes : {8, 136, 1 << 20}) {
      std::vector<std::byte> staging(staging_bytes), laid(tensor.bytes().size());
      copy.FromPlain(tensor.bytes(), staging, [&](size_t offset, std::span<const std::byte> from) {
        std::copy(from.begin(), from.end(), laid.begin() + static_cast<ptrdiff_t>(offset));
      });
      EXPECT_EQ(laid, Expected(tensor, layout)) << text;
      HostTensor back(dtype, shape);
      copy.ToPlain(back.bytes(), staging, [&](size_t offset, std::span<std::byte> to) {
        ASSERT_LE(offset + to.size(), laid.size());
        std::copy_n(laid.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
      });
      EXPECT_TRUE(std::ranges::equal(back.bytes(), tensor.bytes())) << text;
    }
  }
}

}  // namespace
}  // namespace cgrun
