// The validator finds every kind of wrong plan and says who is to blame.
#include "src/packing/validator.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "src/packing/planner.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

using Kind = Violation::Kind;

// The problem and the plan that memory_problem.h draws, with a buffer of no bytes.
MemoryProblem DrawnProblem() {
  return {{{64, 0, 7, 32, {}, "a"},
           {96, 0, 2, 32, {}, "b"},
           {32, 2, 5, 32, {}, "c"},
           {64, 3, 7, 32, {}, "d"},
           {0, 0, 7, 32, {}, "nothing"}},
          {}};
}

MemoryPlan DrawnPlan() { return {{0, 64, 64, 96, 0}, 160, 160, true, "by hand", 5}; }

Violation OnlyViolation(const MemoryProblem& problem, const MemoryPlan& plan) {
  const std::vector<Violation> violations = ValidatePlan(problem, plan);
  EXPECT_EQ(violations.size(), 1u) << ToString(violations);
  return violations.empty() ? Violation{} : violations.front();
}

TEST(Validator, AcceptsARightPlan) {
  EXPECT_TRUE(ValidatePlan({}, {}).empty());
  MemoryProblem problem = DrawnProblem();
  EXPECT_TRUE(ValidatePlan(problem, DrawnPlan()).empty());
  problem.capacity = 160;
  problem.buffers[3].offset = 96;
  EXPECT_TRUE(ValidatePlan(problem, DrawnPlan()).empty());
}

TEST(Validator, NamesBothCulpritsOfAnOverlap) {
  MemoryPlan plan = DrawnPlan();
  plan.offsets[2] = 96;
  const Violation violation = OnlyViolation(DrawnProblem(), plan);
  EXPECT_EQ(violation.kind, Kind::kOverlap);
  EXPECT_EQ(violation.first, BufferId(2));
  EXPECT_EQ(violation.second, BufferId(3));
  EXPECT_EQ(violation.message,
            "'c' (steps [2, 5), bytes [96, 128)) and 'd' (steps [3, 7), bytes [96, 160)) both hold "
            "bytes [96, 128) in steps [3, 5)");
}

TEST(Validator, FindsEachFaultOfOneBuffer) {
  MemoryPlan plan = DrawnPlan();
  plan.offsets[2] = -32;
  Violation violation = OnlyViolation(DrawnProblem(), plan);
  EXPECT_EQ(violation.kind, Kind::kNegativeOffset);
  EXPECT_EQ(violation.message, "'c' (steps [2, 5), bytes [-32, 0)) begins below the arena");

  MemoryProblem problem = DrawnProblem();
  problem.buffers[3].alignment = 64;
  violation = OnlyViolation(problem, DrawnPlan());
  EXPECT_EQ(violation.kind, Kind::kAlignment);
  EXPECT_EQ(violation.message, "'d' (steps [3, 7), bytes [96, 160)) is not aligned to 64");

  problem = DrawnProblem();
  problem.buffers[1].offset = 0;
  violation = OnlyViolation(problem, DrawnPlan());
  EXPECT_EQ(violation.kind, Kind::kFixedOffset);
  EXPECT_EQ(violation.message, "'b' (steps [0, 2), bytes [64, 160)) is fixed at offset 0");

  problem = DrawnProblem();
  problem.buffers[1].bytes = 64;
  problem.capacity = 159;
  violation = OnlyViolation(problem, DrawnPlan());
  EXPECT_EQ(violation.kind, Kind::kCapacity);
  EXPECT_EQ(violation.first, BufferId(3));
  EXPECT_EQ(violation.message,
            "'d' (steps [3, 7), bytes [96, 160)) ends beyond the capacity of 159 bytes");
}

TEST(Validator, FindsWrongFigures) {
  MemoryPlan plan = DrawnPlan();
  plan.peak_bytes = 192;
  plan.optimal = false;
  Violation violation = OnlyViolation(DrawnProblem(), plan);
  EXPECT_EQ(violation.kind, Kind::kPeak);
  EXPECT_EQ(violation.message,
            "'b' (steps [0, 2), bytes [64, 160)) ends highest, but the plan reports a peak of 192 "
            "bytes");
  plan = DrawnPlan();
  plan.lower_bound_bytes = 161;
  EXPECT_EQ(OnlyViolation(DrawnProblem(), plan).kind, Kind::kBound);
  plan.lower_bound_bytes = 159;
  EXPECT_EQ(OnlyViolation(DrawnProblem(), plan).kind, Kind::kBound);
  plan.optimal = false;
  EXPECT_TRUE(ValidatePlan(DrawnProblem(), plan).empty());
  plan = {};
  plan.peak_bytes = 1;
  EXPECT_EQ(OnlyViolation({}, plan).kind, Kind::kPeak);
  plan = DrawnPlan();
  plan.offsets.pop_back();
  EXPECT_EQ(OnlyViolation(DrawnProblem(), plan).kind, Kind::kOffsetCount);
}

TEST(Validator, ABufferWithoutBytesConflictsWithNothing) {
  MemoryPlan plan = DrawnPlan();
  MemoryProblem problem = DrawnProblem();
  problem.capacity = 160;
  plan.offsets[4] = 1 << 20;
  EXPECT_TRUE(ValidatePlan(problem, plan).empty());
  plan.offsets[4] = 1;
  EXPECT_EQ(OnlyViolation(problem, plan).kind, Kind::kAlignment);
}

TEST(Validator, SurvivesAnyOffsetAndKeepsToTheLimit) {
  MemoryPlan plan = DrawnPlan();
  plan.offsets[3] = std::numeric_limits<Bytes>::max();
  EXPECT_FALSE(ValidatePlan(DrawnProblem(), plan).empty());
  plan.offsets[3] = std::numeric_limits<Bytes>::min();
  EXPECT_FALSE(ValidatePlan(DrawnProblem(), plan).empty());
  const MemoryProblem crowd = {std::vector<Buffer>(50, {64, 0, 1, 64, {}, ""}), {}};
  plan.offsets.assign(50, 0);
  plan.peak_bytes = plan.lower_bound_bytes = 64;
  EXPECT_EQ(ValidatePlan(crowd, plan, 5000).size(), 50u * 49 / 2);
  EXPECT_EQ(ValidatePlan(crowd, plan, 7).size(), 7u);
}

// Moves one buffer of a right plan onto another that is alive with it: always found, both named.
TEST(Validator, RejectsMutatedPlans) {
  int64_t mutated = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 12);
    MemoryPlan plan = PlanMemory(problem, "naive");
    ASSERT_TRUE(ValidatePlan(problem, plan).empty());
    Dice dice(RandomKey(seed, "mutation"));
    if (problem.buffers.size() < 2) continue;
    const int64_t last = static_cast<int64_t>(problem.buffers.size()) - 1;
    const BufferId i(dice.Between(0, last)), j(dice.Between(0, last));
    const Buffer &a = problem[i], &b = problem[j];
    const bool meet = a.lower < b.upper && b.lower < a.upper && a.bytes > 0 && b.bytes > 0;
    if (i == j || !meet) continue;
    plan.offsets[static_cast<size_t>(i.index)] = plan.offsets[static_cast<size_t>(j.index)];
    bool named = false;
    for (const Violation& violation : ValidatePlan(problem, plan, 5000)) {
      named |= violation.kind == Kind::kOverlap && violation.first == std::min(i, j) &&
               violation.second == std::max(i, j);
    }
    ASSERT_TRUE(named) << "seed " << seed;
    ++mutated;
  }
  EXPECT_GT(mutated, 300);
}

// An offset drawn at random is accepted exactly if no byte of no step is taken twice.
TEST(Validator, AgreesWithATableOfBytesAndSteps) {
  int64_t accepted = 0, rejected = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Dice dice(RandomKey(seed, "table"));
    MemoryProblem problem;
    MemoryPlan plan;
    const int64_t count = dice.Between(2, 4);
    for (int64_t i = 0; i < count; ++i) {
      const TimePoint lower = dice.Between(0, 7);
      problem.buffers.push_back({dice.Between(0, 5), lower, dice.Between(lower + 1, 8), 1, {}, ""});
      plan.offsets.push_back(dice.Between(0, 12));
    }
    plan.peak_bytes = PeakBytes(problem, plan.offsets);
    std::set<std::pair<TimePoint, Bytes>> held;
    bool right = true;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const Buffer& buffer = problem.buffers[i];
      for (TimePoint t = buffer.lower; t < buffer.upper; ++t) {
        for (Bytes b = 0; b < buffer.bytes; ++b) {
          right &= held.insert({t, plan.offsets[i] + b}).second;
        }
      }
    }
    ASSERT_EQ(ValidatePlan(problem, plan).empty(), right) << "seed " << seed;
    (right ? accepted : rejected) += 1;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_GT(rejected, 300);
}

}  // namespace
}  // namespace cgrun
