// Tests which buffers are the peak, which are placed around it, and what the search proves of the
// whole.
#include "src/packing/planners/peak_first.h"

#include <gtest/gtest.h>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

TEST(PeakFirst, TakesWhatIsAliveInFullSections) {
  // Sections hold 10, 6 and 9 bytes.
  const MemoryProblem problem = {{{6, 0, 2, 1, {}, "long"},
                                  {4, 0, 1, 1, {}, "first"},
                                  {9, 3, 4, 1, {}, "last"},
                                  {0, 0, 4, 1, {}, "empty"},
                                  {1, 2, 3, 1, {}, "between"}},
                                 {}};
  const TimeSections sections(problem);
  const auto ids = [&](double share) { return PeakProblemOf(problem, sections, share).ids; };
  EXPECT_EQ(ids(1.0), (std::vector<BufferId>{BufferId(0), BufferId(1)}));
  EXPECT_EQ(ids(0.9), (std::vector<BufferId>{BufferId(0), BufferId(1), BufferId(2)}));
  EXPECT_EQ(ids(0.1).size(), 4u);
}

// Every answer against exhaustive search: a plan is a plan, and none is none.
TEST(PeakFirst, AgreesWithExhaustiveSearch) {
  int64_t found = 0, none = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 10);
    const Bytes optimum = OptimalPeakFromBelow(problem);
    const TimeSections sections(problem);
    PeakFirst peak_first(problem, sections);
    for (const Bytes capacity : {optimum, optimum - 1}) {
      for (int64_t turn = 0; turn < PeakFirst::kShares; ++turn) {
        Effort effort(10'000);
        const SearchOutcome outcome = peak_first.Run(capacity, 10'000, effort);
        none += outcome == SearchOutcome::kNone;
        ASSERT_FALSE(outcome == SearchOutcome::kNone && capacity == optimum) << "seed " << seed;
        if (outcome != SearchOutcome::kFound) continue;
        ++found;
        MemoryPlan plan;
        plan.offsets = peak_first.offsets();
        plan.peak_bytes = PeakBytes(problem, plan.offsets);
        plan.lower_bound_bytes = LowerBound(problem);
        plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
        ASSERT_EQ(ToString(ValidatePlan(problem, plan)), "") << "seed " << seed;
        ASSERT_EQ(plan.peak_bytes, optimum);
      }
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(none, 1000);
}

TEST(PeakFirst, TakesFixedBuffersInAnyCase) {
  const MemoryProblem problem = {
      {{9, 0, 1, 1, {}, "peak"}, {1, 1, 2, 1, 4, "fixed"}, {0, 1, 2, 1, 4, "empty"}}, {}};
  const TimeSections sections(problem);
  EXPECT_EQ(PeakProblemOf(problem, sections, 0.9).ids,
            (std::vector<BufferId>{BufferId(0), BufferId(1)}));
}

TEST(PeakFirst, SearchesNothingThatIsTooLarge) {
  MemoryProblem problem;
  for (size_t i = 0; i <= TreeSearch::kMostBuffers; ++i) {
    problem.buffers.push_back({64, 0, 1, 64, {}, ""});
  }
  const TimeSections sections(problem);
  PeakFirst peak_first(problem, sections);
  Effort effort(1000);
  EXPECT_EQ(peak_first.Run(LowerBound(problem), 1000, effort), SearchOutcome::kStopped);
}

}  // namespace
}  // namespace cgrun
