// The ladder: plans go down, bounds go up, and what is known at the end is right.
#include "src/packing/planners/ladder.h"

#include <gtest/gtest.h>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

MemoryPlan FirstPlan(const MemoryProblem& problem) {
  MemoryPlan plan = PlanMemory(problem, "naive");
  plan.lower_bound_bytes = LowerBound(problem);
  return plan;
}

void ExpectValid(const MemoryProblem& problem, MemoryPlan plan) {
  plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
  EXPECT_EQ(ToString(ValidatePlan(problem, plan)), "");
}

// Climbs until the plan is proved, or `rounds` have been.
MemoryPlan Climbed(const MemoryProblem& problem, MemoryPlan plan, int rounds, Bytes target = 0) {
  const TimeSections sections(problem);
  Ladder ladder(problem, sections);
  Effort effort(1'000'000);
  for (int round = 0; round < rounds && plan.peak_bytes > plan.lower_bound_bytes; ++round) {
    const MemoryPlan before = plan;
    ladder.Climb(target, plan, effort);
    EXPECT_LE(plan.peak_bytes, before.peak_bytes);
    EXPECT_GE(plan.lower_bound_bytes, before.lower_bound_bytes);
  }
  return plan;
}

TEST(Ladder, ProvesTheOptimumOfSmallProblems) {
  constexpr uint64_t kProblems = kSanitized ? 100 : 1000;
  int64_t by_bound = 0, by_search = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 10);
    const MemoryPlan plan = Climbed(problem, FirstPlan(problem), 150);
    const Bytes optimum = OptimalPeakFromBelow(problem);
    ASSERT_EQ(plan.peak_bytes, optimum) << "seed " << seed;
    ASSERT_EQ(plan.lower_bound_bytes, optimum) << "seed " << seed;
    ExpectValid(problem, plan);
    (optimum == LowerBound(problem) ? by_bound : by_search) += 1;
  }
  EXPECT_GT(by_bound, static_cast<int64_t>(kProblems / 2));
  EXPECT_GT(by_search, static_cast<int64_t>(kProblems / 20));
}

// Every end is a multiple of 64 here, so 65 means 128 and a search for 127 is none.
TEST(Ladder, RoundsTheBoundToWhatPeaksCanBe) {
  const MemoryProblem problem = {{{128, 0, 2, 1, {}, "a"}, {64, 1, 3, 64, {}, "b"}}, {}};
  MemoryPlan plan = {{0, 192}, 256, 129, false, "", 0};
  plan = Climbed(problem, plan, 1);
  EXPECT_EQ(plan.lower_bound_bytes, 192);
  EXPECT_EQ(plan.peak_bytes, 192);
}

// A plan that is known already is never looked for again: there is nothing to spend nodes on.
TEST(Ladder, LooksOnlyBelowTheBestPlan) {
  const MemoryProblem problem = RandomTiling(0, 30, 1024);
  MemoryPlan plan = Climbed(problem, FirstPlan(problem), 20);
  ASSERT_EQ(plan.peak_bytes, 1024);
  const TimeSections sections(problem);
  Ladder ladder(problem, sections);
  Effort effort(1000);
  ladder.Climb(0, plan, effort);
  EXPECT_EQ(effort.spent(), 1);
  EXPECT_EQ(plan.peak_bytes, 1024);
}

// With a capacity, that is looked for first; the bound comes once it is met.
TEST(Ladder, MeetsTheCapacityFirst) {
  MemoryProblem problem = RandomTiling(3, 30, 1024);
  problem.capacity = 1500;
  const TimeSections sections(problem);
  Ladder ladder(problem, sections);
  MemoryPlan plan = FirstPlan(problem);
  Effort effort(1'000'000);
  ladder.Climb(0, plan, effort);
  EXPECT_LE(plan.peak_bytes, 1500);
}

TEST(Ladder, EndsAtTheTarget) {
  const MemoryProblem problem = RandomTiling(3, 30, 1024);
  const MemoryPlan plan = Climbed(problem, FirstPlan(problem), 1, 1300);
  EXPECT_LE(plan.peak_bytes, 1300);
  EXPECT_EQ(plan.lower_bound_bytes, 1024);
}

TEST(Ladder, LeavesWhatIsTooLarge) {
  const auto fits = [](const MemoryProblem& problem) {
    return Ladder::Fits(problem, TimeSections(problem));
  };
  EXPECT_TRUE(fits(RandomTiling(0, 1990, 1 << 20)));
  EXPECT_FALSE(fits(RandomTiling(0, TreeSearch::kMostBuffers + 1, 1 << 20)));
}

}  // namespace
}  // namespace cgrun
