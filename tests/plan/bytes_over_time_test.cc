// Compares BytesOverTime with a plain array.
#include "src/plan/bytes_over_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/dice.h"

namespace cgrun {
namespace {

TEST(BytesOverTime, IsEmptyWithoutSteps) { EXPECT_TRUE(BytesOverTime().empty()); }

TEST(BytesOverTime, HasTheMostOfAnArray) {
  Dice dice(7);
  for (int64_t steps : {1, 2, 3, 8, 100}) {
    std::vector<Bytes> bytes;
    for (int64_t i = 0; i < steps; ++i) bytes.push_back(dice.Between(0, 999));
    BytesOverTime tree(bytes);
    EXPECT_EQ(tree.Most(), *std::ranges::max_element(bytes));
    for (int changes = 0; changes < 200; ++changes) {
      const TimePoint lower = dice.Between(0, steps - 1), upper = dice.Between(lower, steps);
      const Bytes more = dice.Between(-200, 200);
      tree.Add(more, lower, upper);
      for (TimePoint t = lower; t < upper; ++t) bytes[static_cast<size_t>(t)] += more;
      ASSERT_EQ(tree.Most(), *std::ranges::max_element(bytes)) << steps << " " << changes;
    }
  }
}

}  // namespace
}  // namespace cgrun
