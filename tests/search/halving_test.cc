// Tests the schedule of successive halving.
#include "src/search/halving.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

std::vector<std::pair<int64_t, int64_t>> Pairs(const std::vector<Rung>& rungs) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const Rung& rung : rungs) pairs.emplace_back(rung.epochs, rung.trials);
  return pairs;
}

using Schedule = std::vector<std::pair<int64_t, int64_t>>;

TEST(HalvingTest, TheLastRungHasAllEpochs) {
  EXPECT_EQ(Pairs(RungsOf({3, 1, {9, {}}}, 27)), (Schedule{{1, 27}, {3, 9}, {9, 3}}));
  EXPECT_EQ(Pairs(RungsOf({3, 1, {10, {}}}, 27)), (Schedule{{1, 27}, {3, 9}, {9, 3}, {10, 1}}));
  EXPECT_EQ(Pairs(RungsOf({2, 4, {4, {}}}, 5)), (Schedule{{4, 5}}));
}

TEST(HalvingTest, SomeTrialReachesTheEnd) {
  EXPECT_EQ(Pairs(RungsOf({4, 1, {64, {}}}, 2)), (Schedule{{1, 2}, {4, 1}, {16, 1}, {64, 1}}));
}

TEST(HalvingTest, EpochsAreThoseOfAllRungs) {
  EXPECT_EQ(EpochsOf(RungsOf({3, 1, {9, {}}}, 27)), 27 + 9 * 2 + 3 * 6);
}

TEST(HalvingTest, ABudgetIsUsedAsFarAsItGoes) {
  const HalvingSpec stop = {3, 1, {9, {}}};
  for (int64_t epochs = 1; epochs < 200; ++epochs) {
    const int64_t trials = TrialsWithin(stop, epochs);
    if (trials > 0) {
      EXPECT_LE(EpochsOf(RungsOf(stop, trials)), epochs);
    }
    EXPECT_GT(EpochsOf(RungsOf(stop, trials + 1)), epochs);
  }
}

TEST(HalvingTest, TheBestGoOnAndOfEqualOnesTheEarlier) {
  const std::vector<Standing> standings = {
      {0, 0.5}, {1, std::nullopt}, {2, 0.1}, {3, 0.5}, {4, 0.9}};
  EXPECT_EQ(Promoted(standings, 2), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(Promoted(standings, 9), (std::vector<int64_t>{0, 2, 3, 4}));
}

}  // namespace
}  // namespace cgrun
