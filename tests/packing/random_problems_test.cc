// Every planner on as many random problems as the build says, checked by the validator.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

struct Totals {
  int64_t optimal = 0;    // portfolio plans that meet the bound
  int64_t reused = 0;     // the portfolio beats naive there
  int64_t fixed = 0;      // problems with fixed offsets
  int64_t separated = 0;  // problems of several parts
};

void CheckAllPlanners(uint64_t seed, const MemoryProblem& problem, Totals& totals) {
  ASSERT_TRUE(ProblemFaults(problem).empty()) << "seed " << seed;
  const MemoryPlan portfolio = PlanMemory(problem);
  const Bytes bound = SlowLowerBound(problem);
  for (const PlannerEntry& entry : Planners()) {
    const MemoryPlan plan = PlanMemory(problem, entry.name);
    const std::vector<Violation> violations = ValidatePlan(problem, plan);
    ASSERT_TRUE(violations.empty()) << entry.name << ", seed " << seed << ":\n"
                                    << ToString(violations);
    ASSERT_GE(plan.peak_bytes, bound) << entry.name << ", seed " << seed;
    if (entry.role != PlannerRole::kAlone) {
      ASSERT_GE(plan.peak_bytes, portfolio.peak_bytes) << entry.name << ", seed " << seed;
    }
    ASSERT_EQ(plan.optimal, plan.peak_bytes == plan.lower_bound_bytes);
    if (seed % 10 == 0) {
      ASSERT_EQ(plan.offsets, PlanMemory(problem, entry.name).offsets) << "not repeatable";
    }
    if (entry.name == "naive") totals.reused += plan.peak_bytes > portfolio.peak_bytes;
  }
  totals.optimal += portfolio.optimal;
  totals.separated += SplitByTime(problem).size() > 1;
  totals.fixed += std::any_of(problem.buffers.begin(), problem.buffers.end(),
                              [](const Buffer& buffer) { return buffer.offset.has_value(); });
}

TEST(Planner, IsRightOnRandomProblems) {
  constexpr int kProblems = kSanitized ? CGRUN_PROBLEMS / 5 : CGRUN_PROBLEMS;
  Totals totals;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    CheckAllPlanners(seed, RandomProblem(seed, 24), totals);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(totals.optimal, kProblems / 2);
  EXPECT_GT(totals.reused, kProblems / 2);
  EXPECT_GT(totals.fixed, kProblems / 10);
  EXPECT_GT(totals.separated, kProblems / 10);
  EXPECT_LT(totals.optimal, kProblems);
}

}  // namespace
}  // namespace cgrun
