// The squeaky wheel: what it finds is a plan within the capacity, and it finds what orders miss.
#include "src/packing/planners/squeaky_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

// The plan that is found within `capacity`, if one is; checked.
std::optional<MemoryPlan> Find(const MemoryProblem& problem, Bytes capacity, int64_t nodes) {
  const TimeSections sections(problem);
  SqueakyWheel wheel(problem, sections);
  Effort effort(nodes);
  if (!wheel.Run(capacity, nodes, effort)) return {};
  MemoryPlan plan;
  plan.offsets = wheel.offsets();
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  plan.lower_bound_bytes = LowerBound(problem);
  plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
  EXPECT_EQ(ToString(ValidatePlan(problem, plan)), "");
  EXPECT_LE(plan.peak_bytes, capacity);
  return plan;
}

// A chain that is trained: what the forward pass makes dies in reverse order in the backward pass,
// in which a gradient lives from one step to the next and something small at every step. Some of
// what is kept dies early, so that the others leave gaps.
MemoryProblem Chain(uint64_t seed, int64_t length) {
  Dice dice(RandomKey(seed, "chain"));
  MemoryProblem problem;
  const auto add = [&](Bytes bytes, TimePoint lower, TimePoint upper) {
    problem.buffers.push_back({64 * bytes, lower, upper, 64, {}, ""});
  };
  for (TimePoint step = 0; step < length; ++step) {
    const TimePoint back = 2 * length - step;
    const TimePoint early = std::max(step + 1, back - dice.Between(0, length / 2));
    add(dice.Between(20, 60), step, dice.OneIn(4) ? early : back + 1);
    add(dice.Between(1, 30), back - 1, back + 1);
    add(dice.Between(1, 10), step, step + 2);
  }
  return problem;
}

TEST(SqueakyWheel, MeetsTheBoundOfChainsThatOrdersMiss) {
  constexpr uint64_t kProblems = 40;
  uint64_t missed = 0, found = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = Chain(seed, 60);
    const Bytes bound = LowerBound(problem);
    if (PlanMemory(problem, "greedy").peak_bytes == bound) continue;
    ++missed;
    found += Find(problem, bound, 100'000).has_value();
  }
  EXPECT_GT(missed, kProblems / 4);
  EXPECT_GT(found, missed * 3 / 4);
}

TEST(SqueakyWheel, KeepsTheCapacityFixedOffsetsAndAlignments) {
  uint64_t found = 0, fixed = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 40);
    const Bytes capacity = PlanMemory(problem, "greedy").peak_bytes;
    const bool is_found = Find(problem, capacity, 2'000).has_value();
    found += is_found;
    const auto is_fixed = [](const Buffer& buffer) { return buffer.offset.has_value(); };
    fixed += is_found && std::ranges::any_of(problem.buffers, is_fixed);
    const Bytes bound = LowerBound(problem);
    EXPECT_FALSE(bound > 0 && Find(problem, bound - 1, 200)) << "seed " << seed;
  }
  EXPECT_GT(found, 400);
  EXPECT_GT(fixed, 50);
}

TEST(SqueakyWheel, GivesUpWhereAFixedBufferEndsTooHigh) {
  const MemoryProblem problem = {{{4, 0, 2, 1, 8, "fixed"}, {4, 0, 2, 1, {}, "free"}}, {}};
  EXPECT_TRUE(Find(problem, 12, 100));
  EXPECT_FALSE(Find(problem, 11, 100));
}

TEST(SqueakyWheel, DoesTheSameWithTheSameNodes) {
  const MemoryProblem problem = Chain(1, 80);
  for (const int64_t nodes : {100, 10'000, 100'000}) {
    const auto once = Find(problem, LowerBound(problem), nodes);
    const auto twice = Find(problem, LowerBound(problem), nodes);
    ASSERT_EQ(once.has_value(), twice.has_value());
    EXPECT_EQ(once.value_or(MemoryPlan()).offsets, twice.value_or(MemoryPlan()).offsets);
  }
}

TEST(SqueakyWheel, EndsWithItsNodes) {
  const MemoryProblem problem = RandomTiling(1, 200, 1024);
  const TimeSections sections(problem);
  SqueakyWheel wheel(problem, sections);
  Effort effort(1'000'000);
  EXPECT_FALSE(wheel.Run(1024, 10'000, effort));
  EXPECT_GE(effort.spent(), 10'000);
  EXPECT_LT(effort.spent(), 11'000);
}

}  // namespace
}  // namespace cgrun
