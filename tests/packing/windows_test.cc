// Windows: what they place anew, what they leave alone.
#include "src/packing/planners/windows.h"

#include <gtest/gtest.h>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

bool Lower(const MemoryProblem& problem, Bytes capacity, MemoryPlan& plan) {
  const TimeSections sections(problem);
  Effort effort(100'000);
  return LowerByWindows(problem, sections, capacity, 10'000, plan, effort);
}

void ExpectValid(const MemoryProblem& problem, MemoryPlan plan) {
  plan.lower_bound_bytes = LowerBound(problem);
  plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
  EXPECT_EQ(ToString(ValidatePlan(problem, plan)), "");
}

// `tilings` of them one after the other, `gap` steps between them that something lives through.
MemoryProblem Row(uint64_t tilings, size_t count) {
  MemoryProblem row;
  for (uint64_t i = 0; i < tilings; ++i) {
    for (Buffer buffer : RandomTiling(i, count, 1024).buffers) {
      buffer.lower += static_cast<TimePoint>(1000 * i);
      buffer.upper += static_cast<TimePoint>(1000 * i);
      row.buffers.push_back(buffer);
    }
  }
  return row;
}

TEST(Windows, LowerWhatIsTooHigh) {
  const MemoryProblem problem = {
      {{4, 0, 2, 1, {}, "low"}, {4, 1, 3, 1, {}, "high"}, {4, 2, 4, 1, {}, "end"}}, {}};
  MemoryPlan plan = {{0, 8, 0}, 12, 8, false, "", 0};
  ASSERT_TRUE(Lower(problem, 8, plan));
  EXPECT_EQ(plan.peak_bytes, 8);
  ExpectValid(problem, plan);
}

TEST(Windows, LeaveThePlanWhereNoneIsLower) {
  const MemoryProblem problem = RandomTiling(1, 30, 1024);
  const MemoryPlan before = PlanMemory(problem, "first_fit_size");
  MemoryPlan plan = before;
  ASSERT_FALSE(Lower(problem, 1023, plan));
  EXPECT_EQ(plan.offsets, before.offsets);
  EXPECT_EQ(plan.peak_bytes, before.peak_bytes);
}

TEST(Windows, LeaveFixedOffsetsAlone) {
  const MemoryProblem problem = {{{4, 0, 2, 1, 8, "fixed"}, {4, 0, 2, 1, {}, "free"}}, {}};
  MemoryPlan plan = {{8, 12}, 16, 12, false, "", 0};
  ASSERT_TRUE(Lower(problem, 12, plan));
  EXPECT_EQ(plan.offsets, (std::vector<Bytes>{8, 0}));
  MemoryPlan fixed = plan;
  EXPECT_FALSE(Lower(problem, 11, fixed)) << "the fixed one ends above that";
  EXPECT_EQ(fixed.offsets, plan.offsets);
}

// Buffers that are far from the one that is too high stay where they are.
TEST(Windows, MoveOnlyWhatIsNear) {
  const MemoryProblem problem = Row(60, 50);
  MemoryPlan plan = PlanMemory(problem, "best_fit_size");
  const MemoryPlan before = plan;
  const Bytes capacity = before.peak_bytes - 1;
  size_t tallest = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (before.offsets[i] + problem.buffers[i].bytes > capacity) tallest = i;
  }
  ASSERT_TRUE(Lower(problem, capacity, plan));
  ExpectValid(problem, plan);
  EXPECT_LE(plan.peak_bytes, capacity);
  EXPECT_NE(plan.offsets[tallest], before.offsets[tallest]);
  size_t moved = 0;
  for (size_t i = 0; i < plan.offsets.size(); ++i) moved += plan.offsets[i] != before.offsets[i];
  EXPECT_LT(moved, plan.offsets.size() / 4);
}

TEST(Windows, KeepEveryPlanValid) {
  int64_t lowered = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 60);
    MemoryPlan plan = PlanMemory(problem, "first_fit_start");
    const Bytes before = plan.peak_bytes;
    const Bytes capacity = (LowerBound(problem) + before) / 2;
    const bool is_lower = Lower(problem, capacity, plan);
    ExpectValid(problem, plan);
    ASSERT_LE(plan.peak_bytes, is_lower ? capacity : before) << "seed " << seed;
    lowered += is_lower && plan.peak_bytes < before;
  }
  EXPECT_GT(lowered, 30);
}

}  // namespace
}  // namespace cgrun
