// CGRUN_CHECK aborts with the place, the condition and the message; else it costs nothing.
#include "src/base/check.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TEST(CheckDeathTest, PrintsConditionPlaceAndMessage) {
  const int offset = 3;
  EXPECT_DEATH(CGRUN_CHECK(offset % 2 == 0) << "offset " << offset,
               "check_test.cc:[0-9]+: internal error: offset % 2 == 0 offset 3");
}

TEST(CheckTest, ATrueConditionEvaluatesNoMessage) {
  int evaluated = 0;
  CGRUN_CHECK(true) << ++evaluated;
  EXPECT_EQ(evaluated, 0);
}

TEST(CheckTest, BindsToItsOwnIf) {
  bool reached_else = false;
  if (false)
    CGRUN_CHECK(false) << "not evaluated";
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

}  // namespace
}  // namespace cgrun
