// Tests how the distance of numbers is measured, and which differences are none.
#include "src/check/check_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgrun {
namespace {

TEST(CheckNumbers, KeysTellPathsApart) {
  EXPECT_EQ(KeyOf("loss", 1), "loss@1");
  EXPECT_NE(KeyOf("loss", 0), KeyOf("loss", 1));
}

TEST(CheckNumbers, NamesWhatIsMissing) {
  const std::map<std::string, std::vector<double>> expected = {
      {KeyOf("loss", 0), {1}}, {KeyOf("loss", 1), {1}}, {KeyOf("grad(w@2)", 0), {1}}};
  EXPECT_EQ(NamesNotIn({"loss@0", "loss@1", "grad(w@2)@0", "more@0"}, expected),
            std::vector<std::string>());
  EXPECT_EQ(NamesNotIn({"loss@0"}, expected), (std::vector<std::string>{"grad(w@2)", "loss"}));
}

TEST(CheckNumbers, TheRootMeanSquareIsOfAllNumbers) {
  EXPECT_EQ(RootMeanSquare({}), 0);
  EXPECT_DOUBLE_EQ(RootMeanSquare(std::vector<double>{3, -4, 0, 0}), 2.5);
}

TEST(CheckNumbers, AnErrorIsRelativeToWhatIsExpected) {
  EXPECT_EQ(ErrorOf({1, 2}, {1, 2}, 0), 0);
  EXPECT_DOUBLE_EQ(ErrorOf({3, 4}, {6, 8}, 0), 0.5);
  EXPECT_DOUBLE_EQ(ErrorOf({3, 4}, {6, 8}, 50), RootMeanSquare(std::vector<double>{3, 4}) / 50);
  EXPECT_GT(ErrorOf({1}, {0}, 0), 1e100) << "of nothing, everything is far";
}

TEST(CheckNumbers, WhatIsNoNumberIsInfinitelyFar) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(ErrorOf({1, kNan}, {1, 2}, 0)));
  EXPECT_TRUE(std::isinf(ErrorOf({std::numeric_limits<double>::infinity()}, {1}, 0)));
}

TEST(CheckNumbersDeathTest, OtherSizesAreAMistakeOfOurs) {
  EXPECT_DEATH(ErrorOf({1, 2}, {1}, 0), "2 numbers, 1 expected");
  EXPECT_DEATH(ErrorOf({1}, {1, 2}, 0), "1 numbers, 2 expected");
}

}  // namespace
}  // namespace cgrun
