// Every number comes once, in an order of the key's own.
#include "src/base/computed_permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cgrun {
namespace {

std::vector<int64_t> Order(uint64_t key, int64_t size) {
  const ComputedPermutation permutation(key, size);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < size; ++i) order.push_back(permutation[i]);
  return order;
}

TEST(ComputedPermutation, EveryNumberComesOnce) {
  for (const int64_t size : {1, 2, 3, 4, 5, 15, 16, 17, 255, 1000, 4097}) {
    std::vector<bool> seen(static_cast<size_t>(size));
    for (const int64_t i : Order(7, size)) {
      ASSERT_TRUE(i >= 0 && i < size) << i << " of " << size;
      EXPECT_FALSE(seen[static_cast<size_t>(i)]) << i << " twice of " << size;
      seen[static_cast<size_t>(i)] = true;
    }
  }
}

TEST(ComputedPermutation, TheKeyAndTheSizeAloneDecide) {
  EXPECT_EQ(Order(7, 1000), Order(7, 1000));
  EXPECT_NE(Order(7, 1000), Order(8, 1000));
}

TEST(ComputedPermutation, NumbersOfAllSizesComeFirstAsOften) {
  constexpr int64_t kSize = 1'000'000'000'000, kDrawn = 10'000;
  const ComputedPermutation permutation(3, kSize);
  double sum = 0;
  for (int64_t i = 0; i < kDrawn; ++i) sum += static_cast<double>(permutation[i]) / kSize;
  EXPECT_NEAR(sum / kDrawn, 0.5, 4 / std::sqrt(12.0 * kDrawn));
}

}  // namespace
}  // namespace cgrun
