// Shapes: the batch dimension, counting, overflow.
#include "src/base/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace cgrun {
namespace {

TEST(ShapeTest, PrintsTheBatchAsN) {
  EXPECT_EQ((Shape{kBatchDim, 1, 28, 28}).ToString(), "[N, 1, 28, 28]");
  EXPECT_EQ((Shape{Dim(4, true), 7}).ToString(), "[4N, 7]");
  EXPECT_EQ(Shape().ToString(), "[]");
}

TEST(ShapeTest, BindsTheBatch) {
  const Shape shape{Dim(4, true), 7};
  EXPECT_FALSE(shape.IsBound());
  EXPECT_EQ(shape.Bind(8), (Shape{32, 7}));
  EXPECT_EQ(shape.ElementsDim(), Dim(28, true));
  EXPECT_EQ(shape.Bind(8).Elements(), 224);
  EXPECT_EQ((Shape{3, 5}).Bind(100), (Shape{3, 5}));
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().Elements(), 1);
  EXPECT_EQ((Shape{3, 0, 5}).Elements(), 0);
  EXPECT_EQ(Shape::Of({2, 3, 4}).Elements(), 24);
  EXPECT_EQ(Shape::Of({2, 3}).Sizes(), (std::vector<int64_t>{2, 3}));
}

TEST(ShapeTest, RowMajorStrides) {
  EXPECT_EQ(RowMajorStrides({2, 3, 4}), (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(RowMajorStrides(Shape()), std::vector<int64_t>{});
}

TEST(ShapeTest, CheckedElementsRefusesWhatCannotBeCounted) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{2, 3}), 6);
  EXPECT_EQ(CheckedElements({}), 1);
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{most, 1}), most);
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{0, most, most}), 0);
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{most, 2}), std::nullopt);
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{most, most, 0}), std::nullopt);
  EXPECT_EQ(CheckedElements(std::vector<int64_t>{0, -1}), std::nullopt);
}

TEST(ShapeDeathTest, OurBugsAreCaught) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_DEATH((Shape{kBatchDim, 3}).Elements(), "has no batch size yet");
  EXPECT_DEATH((Shape{kBatchDim, kBatchDim}).ElementsDim(), "two batch dimensions");
  EXPECT_DEATH((Shape{most, 2}).Elements(), "internal error");
  EXPECT_DEATH((Shape{Dim(2, true)}).Bind(most), "internal error");
}

}  // namespace
}  // namespace cgrun
