// Means and deviations of columns against their definitions.
#include "src/data/column_moments.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cgrun {
namespace {

TEST(ColumnMoments, MeansAndDeviations) {
  ColumnMoments moments(3);
  for (const double value : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) moments.Add(0, value);
  for (int i = 0; i < 3; ++i) moments.Add(1, 1e9);
  EXPECT_DOUBLE_EQ(moments.Means()[0], 5);
  EXPECT_DOUBLE_EQ(moments.Deviations()[0], 2);
  EXPECT_DOUBLE_EQ(moments.Means()[1], 1e9);
  EXPECT_EQ(moments.Deviations()[1], 1) << "of a column that never changes";
  EXPECT_TRUE(std::isnan(moments.Means()[2]));
  EXPECT_EQ(moments.Deviations()[2], 1);
}

// A number that no double is, and whose sums are rounded.
TEST(ColumnMoments, OfEqualValuesAreExact) {
  ColumnMoments moments(1);
  for (int i = 0; i < 50; ++i) moments.Add(0, 0.1);
  EXPECT_EQ(moments.Means()[0], 0.1);
  EXPECT_EQ(moments.Deviations()[0], 1);
}

// Sums of squares would lose all digits here.
TEST(ColumnMoments, FarFromZero) {
  ColumnMoments moments(1);
  for (int i = 0; i < 1000; ++i) moments.Add(0, 1e9 + (i % 2));
  EXPECT_NEAR(moments.Deviations()[0], 0.5, 1e-6);
}

}  // namespace
}  // namespace cgrun
