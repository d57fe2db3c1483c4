// Converts weights of convolutions with groups to oneDNN's axes and back.
#include "src/kernels/onednn/grouped_weights.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "src/kernels/onednn/primitive.h"

namespace cgrun::onednn {
namespace {

Layout LayoutFrom(const std::string& text) {
  Layout layout;
  EXPECT_TRUE(Layout::Parse(text, &layout)) << text;
  return layout;
}

TensorType Weights(int64_t filters, int64_t channels) {
  return {DType::kF32, {filters, channels, 3, 3}};
}

TEST(GroupedWeights, DepthwiseBlocksOfGroupsAreBlocksOfFilters) {
  for (const int64_t groups : {16, 20}) {  // whole blocks, and a block that is padded
    for (const char* text : {"Abcd16a", "Abcd8a", "acdb"}) {
      const Layout layout = LayoutFrom(text);
      const auto desc = DescribeWeights(Weights(groups, 1), groups, &layout);
      EXPECT_EQ(desc.dims(), (dnnl::memory::dims{groups, 1, 1, 3, 3}));
      const bool blocked = !layout.blocks.empty();
      EXPECT_EQ(desc.data.format_desc.blocking.inner_nblks, blocked ? 1 : 0);
      EXPECT_EQ(static_cast<int64_t>(desc.get_size()), ByteSize(Weights(groups, 1), layout));
      if (!blocked) continue;  // an axis of one element may stand anywhere
      const std::optional<Layout> back = WeightLayoutOf(desc);
      ASSERT_TRUE(back.has_value()) << text;
      EXPECT_EQ(back->ToString(), text);
    }
  }
}

TEST(GroupedWeights, PlainStaysPlain) {
  const Layout plain;
  for (const auto& [groups, filters, channels] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 6, 4}, {3, 6, 2}, {6, 6, 1}, {2, 2, 5}}) {
    const auto desc = DescribeWeights(Weights(filters, channels), groups, &plain);
    EXPECT_EQ(desc.data.ndims, groups == 1 ? 4 : 5);
    const std::optional<Layout> back = WeightLayoutOf(desc);
    ASSERT_TRUE(back.has_value());
    EXPECT_TRUE(back->IsPlain()) << back->ToString();
  }
}

TEST(GroupedWeights, WithoutGroupsEveryLayoutGoes) {
  const Layout layout = LayoutFrom("ABcd16b16a");
  const auto desc = DescribeWeights(Weights(32, 16), 1, &layout);
  EXPECT_EQ(desc.data.ndims, 4);
  ASSERT_TRUE(WeightLayoutOf(desc).has_value());
  EXPECT_EQ(*WeightLayoutOf(desc), layout);
}

TEST(GroupedWeights, OneDnnChoosesForDepthwiseAlone) {
  const auto chosen_by_onednn = [](int64_t filters, int64_t channels, int64_t groups) {
    const auto desc = DescribeWeights(Weights(filters, channels), groups, nullptr);
    return desc.data.format_kind == dnnl_format_kind_any;
  };
  EXPECT_TRUE(chosen_by_onednn(16, 1, 16));
  EXPECT_TRUE(chosen_by_onednn(16, 8, 1));
  EXPECT_FALSE(chosen_by_onednn(16, 2, 8));
}

TEST(GroupedWeightsDeathTest, WhatIsNotPlainIsNotDroppedInSilence) {
  const Layout layout = LayoutFrom("Abcd16a");
  EXPECT_DEATH(DescribeWeights(Weights(32, 16), 2, &layout), "2 groups in the layout Abcd16a");
}

}  // namespace
}  // namespace cgrun::onednn
