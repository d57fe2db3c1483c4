// Ranges in words.
#include "src/ir/range_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgrun {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(RangeText, SaysWhichNumbersAreAllowed) {
  EXPECT_EQ(RangeText(0, kNone), "at least 0");
  EXPECT_EQ(RangeText(-kNone, 9), "at most 9");
  EXPECT_EQ(RangeText(1, 9), "1 to 9");
  EXPECT_EQ(RangeText(-0.5, 0.5), "-0.5 to 0.5");
  EXPECT_EQ(RangeText(-kNone, kNone), "");
}

TEST(RangeText, LeavesBoundsOut) {
  EXPECT_LT(kBelowOne, 1);
  EXPECT_EQ(kBelowOne, std::nextafter(1.0, 0.0));
  EXPECT_GT(kAboveZero, 0);
  EXPECT_EQ(RangeText(0, kBelowOne), "at least 0 and less than 1");
  EXPECT_EQ(RangeText(-kNone, kBelowOne), "less than 1");
  EXPECT_EQ(RangeText(kAboveZero, kNone), "more than 0");
  EXPECT_EQ(RangeText(kAboveZero, 1), "more than 0 and at most 1");
}

}  // namespace
}  // namespace cgrun
