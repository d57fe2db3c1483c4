// Philox against the known answers of its authors (Random123, kat_vectors), and what is drawn.
#include "src/base/random.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "src/base/allocation_counter.h"

namespace cgrun {
namespace {

using Words = std::array<uint32_t, 4>;

TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(Philox(0, 0, 0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(Philox(ones, ones, ones), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(Philox(0x299F31D0A4093822, 0x0370734413198A2E, 0x85A308D3243F6A88),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(RandomKeyTest, DependsOnSeedAndName) {
  EXPECT_EQ(RandomKey(1, "fc1.w"), RandomKey(1, "fc1.w"));
  EXPECT_NE(RandomKey(1, "fc1.w"), RandomKey(2, "fc1.w"));
  EXPECT_NE(RandomKey(1, "fc1.w"), RandomKey(1, "fc1.b"));
}

TEST(RandomTest, UniformsCoverTheirRange) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_LT(UniformFloat(0xFFFFFFFF), 1.0f);
  double sum = 0.0;
  for (uint64_t i = 0; i < 100000; ++i) sum += UniformFloat(RandomBits(7, 0, i));
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);  // five standard deviations
}

TEST(RandomTest, NormalsHaveTheMomentsOfANormal) {
  constexpr int kCount = 100000;
  double sum = 0.0, squares = 0.0, fourth = 0.0, products = 0.0, before = 0.0;
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = RandomNormal(7, 3, i);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    products += x * before;
    before = x;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.016);
  EXPECT_NEAR(squares / kCount, 1.0, 0.023);
  EXPECT_NEAR(fourth / kCount, 3.0, 0.16);
  EXPECT_NEAR(products / kCount, 0.0, 0.016);  // neighbours share a block
}

TEST(RandomPermutationTest, IsAPermutation) {
  EXPECT_TRUE(rc::check([](uint64_t key, uint64_t high) {
    std::vector<int64_t> order(static_cast<size_t>(*rc::gen::inRange(0, 300)));
    RandomPermutation(key, high, order);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < order.size(); ++i) RC_ASSERT(order[i] == static_cast<int64_t>(i));
  }));
}

TEST(RandomPermutationTest, DependsOnKeyAndCounter) {
  std::vector<int64_t> first(100), second(100);
  RandomPermutation(7, 0, first);
  EXPECT_EQ(first, RandomPermutation(7, 100));
  EXPECT_NE(first, RandomPermutation(8, 100));
  RandomPermutation(7, 1, second);
  EXPECT_NE(first, second);
}

TEST(RandomPermutationTest, AllOrdersAreAsLikely) {
  std::map<std::vector<int64_t>, int> counts;
  for (uint64_t key = 0; key < 24000; ++key) ++counts[RandomPermutation(RandomKey(key, "p"), 4)];
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);
}

TEST(RandomPermutationTest, DoesNotAllocateIntoCallersMemory) {
  std::vector<int64_t> order(1000);
  const int64_t before = CurrentHeapUse().allocations;
  RandomPermutation(7, 0, order);
  EXPECT_EQ(CurrentHeapUse().allocations, before);
}

TEST(AllocationCounterTest, Counts) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer replaces operator new";
  const int64_t before = CurrentHeapUse().allocations;
  const std::vector<int64_t> vector(1000);
  EXPECT_EQ(CurrentHeapUse().allocations, before + 1) << vector.size();
}

}  // namespace
}  // namespace cgrun
