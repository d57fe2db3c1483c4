// Tests which samples go into which inputs, and the messages about the others.
#include "src/model_data/sample_shape.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

using Sizes = std::vector<int64_t>;

TEST(ShapesAgree, ButForAxesOfOneAndFlattening) {
  EXPECT_TRUE(ShapesAgree(Sizes{28, 28}, Sizes{1, 28, 28}));
  EXPECT_TRUE(ShapesAgree(Sizes{5, 1}, Sizes{5}));
  EXPECT_TRUE(ShapesAgree(Sizes{1}, Sizes{}));
  EXPECT_TRUE(ShapesAgree(Sizes{1, 28, 28}, Sizes{784}));
  EXPECT_TRUE(ShapesAgree(Sizes{48}, Sizes{3, 16}));
  EXPECT_FALSE(ShapesAgree(Sizes{16, 3}, Sizes{3, 16}));
  EXPECT_FALSE(ShapesAgree(Sizes{6, 8}, Sizes{3, 16})) << "as many elements";
  EXPECT_FALSE(ShapesAgree(Sizes{2}, Sizes{}));
  EXPECT_FALSE(ShapesAgree(Sizes{3, 16}, Sizes{3, 17}));
  EXPECT_FALSE(ShapesAgree(Sizes{int64_t{1} << 40, int64_t{1} << 40}, Sizes{0}));
}

TEST(FindTransposition, KeepsAxesOfOneSizeInTheirOrder) {
  EXPECT_EQ(FindTransposition(Sizes{16, 3}, Sizes{3, 16}), (Sizes{1, 0}));
  EXPECT_EQ(FindTransposition(Sizes{32, 24, 3}, Sizes{3, 24, 32}), (Sizes{2, 1, 0}));
  EXPECT_EQ(FindTransposition(Sizes{32, 32, 3}, Sizes{3, 32, 32}), (Sizes{2, 0, 1}));
  EXPECT_EQ(FindTransposition(Sizes{2, 3}, Sizes{2, 3}), (Sizes{0, 1}));
  EXPECT_EQ(FindTransposition(Sizes{2, 3}, Sizes{2, 4}), std::nullopt);
  EXPECT_EQ(TranspositionText(Sizes{2, 0, 1}, true), "0, 3, 1, 2");
  EXPECT_EQ(TranspositionText(Sizes{2, 0, 1}, false), "2, 0, 1");
}

TEST(MisfitHelp, SaysWhatTheDifferenceSeemsToBe) {
  const auto help = [](DType dtype, const Sizes& input, const Sizes& field) {
    return MisfitHelp({"x", dtype, Shape::Of(input)}, {"x", dtype, Shape::Of(field)});
  };
  EXPECT_EQ(help(DType::kF32, {7}, {8}), "write `x: {type: f32, shape: [8]}`");
  EXPECT_EQ(help(DType::kF32, {32, 3, 8, 8}, {3, 8, 8}),
            "a shape is that of one sample, without the batch: write `x: {type: f32, shape: [3, 8, "
            "8]}`");
  EXPECT_EQ(help(DType::kU8, {28, 28, 1}, {28, 28}),
            "channels come first in the data: write `x: {type: uint8, shape: [1, 28, 28]}`");
  EXPECT_NE(help(DType::kI32, {}, {10}).find("`argmax` over the last axis"), std::string::npos);
  EXPECT_EQ(help(DType::kF32, {}, {10}).find("argmax"), std::string::npos);
}

}  // namespace
}  // namespace cgrun
