// Which sizes of features are doubted.
#include "src/data/column_sizes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

std::string Doubt(const std::vector<double>& means, const std::vector<double>& deviations) {
  return DoubtOfColumns({"a", "b", "c", "d", "e"}, means, deviations);
}

TEST(ColumnSizesTest, LargeAndDifferentColumnsAreDoubted) {
  EXPECT_EQ(Doubt({1980, 0.5}, {25, 0.3}),
            "the features are large numbers: 'a' (mean 1980, deviation 25)");
  EXPECT_EQ(
      Doubt({3, 0.5}, {40, 0.2}),
      "the features are of very different sizes: 'a' (mean 3, deviation 40), beside 'b' (mean "
      "0.5, deviation 0.2)");
  EXPECT_EQ(Doubt({2000, 3000, -5e6, 4000, 1}, {1, 2, 1, 2, 1}),
            "the features are large numbers: 'c' (mean -5000000, deviation 1), 'd' (mean 4000, "
            "deviation 2), 'b' (mean 3000, deviation 2) and 1 more");
}

TEST(ColumnSizesTest, NumbersOfOneColumnAreLarge) {
  EXPECT_TRUE(IsLargeSize(-250000, 3));
  EXPECT_TRUE(IsLargeSize(0, 1001));
  EXPECT_FALSE(IsLargeSize(1000, 1000));
  EXPECT_FALSE(IsLargeSize(std::nan(""), 0));
  EXPECT_EQ(SizeText(250000, 17606.8), "mean 250000, deviation 17607");
}

TEST(ColumnSizesTest, OthersAreNot) {
  EXPECT_EQ(Doubt({}, {}), "");
  EXPECT_EQ(Doubt({0.5, 0.4, 3}, {0.3, 0.2, 2}), "");
  EXPECT_EQ(Doubt({10, 5}, {40, 0.5}), "");
  const double rare = 1e-5;  // of zeros and ones
  EXPECT_EQ(Doubt({10, rare}, {40, std::sqrt(rare * (1 - rare))}), "");
  EXPECT_EQ(Doubt({500, 7}, {300, 0}), "") << "a column of sevens";
  EXPECT_EQ(Doubt({100, 0.2}, {0, 0.005}), "") << "a column of hundreds beside a narrow one";
  EXPECT_EQ(Doubt({0.13, 1e-4}, {0.3, 0.002}), "") << "values up to 1";
  EXPECT_EQ(Doubt({std::nan(""), 1}, {1, 0.5}), "") << "a column without a value";
}

TEST(ColumnSizesTest, TablesAreDoubtedAsTheyAreRead) {
  CsvBuilder builder("a,b,y\n1900,1,2\n2000,2,3\n");
  builder.Label("y", DType::kF32);
  const Opened plain = builder.Open();
  ASSERT_EQ(plain.errors, "");
  EXPECT_EQ(plain.dataset->DoubtOfSizes(0),
            "the features are large numbers: 'a' (mean 1950, deviation 50)");
  EXPECT_EQ(plain.dataset->DoubtOfSizes(1), "") << "labels are not features";
  EXPECT_EQ(builder.Set("standardize", "true").Open().dataset->DoubtOfSizes(0), "");
}

}  // namespace
}  // namespace cgrun
