// Layout notation, padding and element offsets.
#include "src/ir/tensor_type.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace cgrun {
namespace {

Layout Parsed(const std::string& text) {
  Layout layout;
  EXPECT_TRUE(Layout::Parse(text, &layout)) << text;
  return layout;
}

TEST(TensorTypeTest, PrintsTypeAndShape) {
  EXPECT_EQ((TensorType{DType::kF32, {kBatchDim, 1, 28, 28}}).ToString(), "f32[N, 1, 28, 28]");
  EXPECT_EQ((TensorType{DType::kI64, {}}).ToString(), "int64[]");
}

TEST(LayoutTest, NotationComesBack) {
  for (const char* text : {"plain", "abcd", "acdb", "aBcd16b", "ABcd16b16a", "aBc8b2b", "a"}) {
    EXPECT_EQ(Parsed(text).ToString(), text);
  }
  EXPECT_TRUE(Parsed("plain").IsPlain());
  EXPECT_FALSE(Parsed("abcd").IsPlain());
  EXPECT_EQ(Parsed("aBcd16b"), (Layout{{0, 1, 2, 3}, {{1, 16}}}));
}

TEST(LayoutTest, MalformedNotationIsRefused) {
  for (const char* text :
       {"", "aa", "ac", "aBc?", "ab1b", "ab0b", "ab16", "ab16c", "16b", "ab16B"}) {
    Layout layout;
    EXPECT_FALSE(Layout::Parse(text, &layout)) << text;
  }
}

TEST(LayoutTest, BlockedAxesArePadded) {
  const Shape shape{2, 20, 3, 5};
  EXPECT_EQ(PaddedElements(shape, Layout()), 600);
  EXPECT_EQ(PaddedElements(shape, Parsed("acdb")), 600);
  EXPECT_EQ(PaddedElements(shape, Parsed("aBcd16b")), 2 * 32 * 3 * 5);
  EXPECT_EQ(PaddedElements(shape, Parsed("ABcd16b16a")), 16 * 32 * 3 * 5);
  EXPECT_EQ(PaddedElements(Shape(), Layout()), 1);
}

TEST(LayoutTest, BytesCountTheType) {
  EXPECT_EQ(ByteSize({DType::kF32, {3, 5}}), 60);
  EXPECT_EQ(ByteSize({DType::kU8, {3, 5}}), 15);
  EXPECT_EQ(ByteSize({DType::kF64, {2, 3}}, Parsed("aB4b")), 2 * 4 * 8);
}

TEST(LayoutTest, BytesNeedABatchSize) {
  EXPECT_DEATH(ByteSize({DType::kF32, {kBatchDim, 5}}), "no batch size");
}

TEST(LayoutTest, OffsetsFollowTheNotation) {
  const Shape shape{2, 20, 3, 5};
  EXPECT_EQ(ElementOffset(shape, Layout(), {1, 2, 0, 4}), ((1 * 20 + 2) * 3 + 0) * 5 + 4);
  EXPECT_EQ(ElementOffset(shape, Parsed("acdb"), {1, 2, 0, 4}), ((1 * 3 + 0) * 5 + 4) * 20 + 2);
  // Channel 18 is the third of the second block of 16.
  EXPECT_EQ(ElementOffset(shape, Parsed("aBcd16b"), {1, 18, 2, 4}),
            (((1 * 2 + 1) * 3 + 2) * 5 + 4) * 16 + 2);
  // Blocks of one axis nest: 8 outer times 2 inner.
  EXPECT_EQ(ElementOffset({1, 16, 1}, Parsed("aBc8b2b"), {0, 5, 0}), 2 * 2 + 1);
}

// Every element has a place of its own, within the padded size.
TEST(LayoutTest, OffsetsAreDistinct) {
  rc::check([] {
    const int rank = *rc::gen::inRange(1, 5);
    Shape shape;
    for (int axis = 0; axis < rank; ++axis)
      shape.dims().push_back(*rc::gen::inRange<int64_t>(1, 6));
    std::vector<int> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    Layout layout;
    const int rotation = *rc::gen::inRange(0, rank);
    std::rotate(order.begin(), order.begin() + rotation, order.end());
    layout.order = order;
    const int blocks = *rc::gen::inRange(0, 3);
    for (int i = 0; i < blocks; ++i) {
      layout.blocks.push_back({*rc::gen::inRange(0, rank), *rc::gen::inRange<int64_t>(2, 5)});
    }
    Layout again;
    RC_ASSERT(Layout::Parse(layout.ToString(), &again));
    RC_ASSERT(again == layout);
    std::set<int64_t> offsets;
    std::vector<int64_t> index(static_cast<size_t>(rank));
    const int64_t elements = shape.Elements();
    for (int64_t e = 0; e < elements; ++e) {
      const int64_t offset = ElementOffset(shape, layout, index);
      RC_ASSERT(offset >= 0 && offset < PaddedElements(shape, layout));
      offsets.insert(offset);
      for (int axis = rank - 1; axis >= 0; --axis) {
        if (++index[static_cast<size_t>(axis)] < shape[axis].size) break;
        index[static_cast<size_t>(axis)] = 0;
      }
    }
    RC_ASSERT(static_cast<int64_t>(offsets.size()) == elements);
  });
}

}  // namespace
}  // namespace cgrun
