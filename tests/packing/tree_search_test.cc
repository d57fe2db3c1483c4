// The tree search: its verdicts against exhaustive search, and each of its rules in a case that
// takes several times as many nodes without it.
#include "src/packing/planners/tree_search.h"

#include <gtest/gtest.h>

#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

struct Found {
  SearchOutcome outcome;
  int64_t nodes;
  MemoryPlan plan;
};

Found Search(const MemoryProblem& problem, Bytes capacity, int64_t nodes,
             const Preorder& order = kPreorders[0], uint64_t variation = 0) {
  const TimeSections sections(problem);
  TreeSearch search(problem, sections);
  Effort effort(nodes);
  const SearchOutcome outcome = search.Run(capacity, order, nodes, effort, variation);
  Found found = {outcome, effort.spent(), {}};
  if (outcome != SearchOutcome::kFound) return found;
  found.plan.offsets = search.offsets();
  found.plan.peak_bytes = PeakBytes(problem, found.plan.offsets);
  found.plan.lower_bound_bytes = LowerBound(problem);
  found.plan.optimal = found.plan.peak_bytes == found.plan.lower_bound_bytes;
  return found;
}

void Add(MemoryProblem& problem, Bytes bytes, TimePoint lower, TimePoint upper,
         std::optional<Bytes> offset = std::nullopt) {
  problem.buffers.push_back({bytes, lower, upper, 1, offset, ""});
}

// Four of three bytes around one byte that is fixed: the bound is 13, the least peak 14.
void AddKnot(MemoryProblem& problem, TimePoint lower) {
  for (int i = 0; i < 4; ++i) Add(problem, 3, lower, lower + 2);
  Add(problem, 1, lower, lower + 2, 4);
}

// Holds everything together until it is placed, which is last.
constexpr Bytes kLid = 13;
MemoryProblem KnotUnderALid() {
  MemoryProblem problem;
  Add(problem, 1, 0, 20, kLid);
  AddKnot(problem, 0);
  return problem;
}

void ExpectNoneWithin(const MemoryProblem& problem, Bytes capacity, int64_t nodes) {
  ASSERT_LE(LowerBound(problem), capacity) << "the bound says it all";
  EXPECT_EQ(Search(problem, capacity, nodes).outcome, SearchOutcome::kNone);
}

// Any preorder, varied or not, finds a plan of the least peak and none that is lower; nearly always
// it proves that there is none.
TEST(TreeSearch, AgreesWithExhaustiveSearch) {
  constexpr uint64_t kProblems = kSanitized ? 200 : 2000;
  constexpr int64_t kNodes = 200'000;
  int64_t above_bound = 0, stopped = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 12);
    const Bytes optimum = OptimalPeakFromBelow(problem);
    above_bound += optimum > LowerBound(problem);
    const uint64_t variation = seed / 2 % 3;
    const Preorder& order = kPreorders[seed % 3];
    const Found found = Search(problem, optimum, kNodes, order, variation);
    ASSERT_EQ(found.outcome, SearchOutcome::kFound) << "seed " << seed;
    ASSERT_LE(found.plan.peak_bytes, optimum) << "seed " << seed;
    ASSERT_EQ(ToString(ValidatePlan(problem, found.plan)), "") << "seed " << seed;
    if (optimum == 0) continue;
    const Found lower = Search(problem, optimum - 1, kNodes, order, variation);
    ASSERT_NE(lower.outcome, SearchOutcome::kFound) << "seed " << seed;
    stopped += lower.outcome == SearchOutcome::kStopped;
  }
  EXPECT_LT(stopped, static_cast<int64_t>(kProblems / 50));
  EXPECT_GT(above_bound, static_cast<int64_t>(kProblems / 20));
}

// These buffers have to fit without a gap. The search finds the tiling that was cut, or one as
// good.
TEST(TreeSearch, PutsTilingsTogether) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const MemoryProblem problem = RandomTiling(seed, 40, 1024);
    ASSERT_EQ(LowerBound(problem), 1024);
    const Found found = Search(problem, 1024, 1000);
    ASSERT_EQ(found.outcome, SearchOutcome::kFound) << "seed " << seed;
    ASSERT_EQ(ToString(ValidatePlan(problem, found.plan)), "") << "seed " << seed;
  }
}

TEST(TreeSearch, StopsWhereTheNodesEnd) {
  const MemoryProblem problem = RandomTiling(1, 200, 1024);
  const Found found = Search(problem, 1024, 10);
  EXPECT_EQ(found.outcome, SearchOutcome::kStopped);
  EXPECT_LT(found.nodes, 100);
}

TEST(TreeSearch, IsDoneWhereThereIsNothing) {
  EXPECT_EQ(Search({}, 0, 10).outcome, SearchOutcome::kFound);
  EXPECT_EQ(Search({{{0, 0, 1, 64, {}, ""}}, {}}, 0, 10).outcome, SearchOutcome::kFound);
  EXPECT_EQ(Search({{{8, 0, 1, 64, {}, ""}}, {}}, 7, 10).outcome, SearchOutcome::kNone);
}

// 2,131 nodes if all orders of the eight were gone through.
TEST(TreeSearch, TakesInterchangeableBuffersInOneOrder) {
  MemoryProblem problem;
  for (int i = 0; i < 8; ++i) Add(problem, 3, 0, 2);
  Add(problem, 1, 0, 2, 10);
  ExpectNoneWithin(problem, 25, 10);
}

// Beside the knot there are pairs that leave a gap below the larger one, or do not; without
// dominance 1,296 nodes.
TEST(TreeSearch, LeavesNoGapThatAnotherFills) {
  MemoryProblem problem = KnotUnderALid();
  for (int i = 0; i < 4; ++i) {
    Add(problem, 1, 2 + i, 3 + i);
    Add(problem, 2, 2 + i, 3 + i);
  }
  ExpectNoneWithin(problem, kLid + 1, 600);
}

// Nothing may begin above the bottom of the knot, so none of those beside it is worth a try once
// the knot has failed; 592 nodes if any set of them is placed first.
TEST(TreeSearch, KnowsWhatMustBeTheLowestOfASection) {
  MemoryProblem problem = KnotUnderALid();
  for (int i = 0; i < 8; ++i) Add(problem, 5 + i, 2 + i, 3 + i);
  ExpectNoneWithin(problem, kLid + 1, 100);
}

// Once the fixed byte at the bottom is placed, the two sides are independent; else each of the
// plans of the one is tried with the other.
TEST(TreeSearch, SolvesBothSidesOfACutAlone) {
  MemoryProblem problem;
  Add(problem, 1, 0, 4, 0);
  for (int i = 0; i < 4; ++i) Add(problem, 3, 0, 2);
  Add(problem, 1, 0, 2, 5);
  for (int i = 0; i < 5; ++i) Add(problem, 1 + i % 2, 2, 4);
  ExpectNoneWithin(problem, 14, 8);
}

// Four that meet nobody come first: that one of them fails is not its fault.
TEST(TreeSearch, BlamesNoneThatNothingLiesAbove) {
  MemoryProblem problem;
  for (int i = 0; i < 4; ++i) Add(problem, 2, 10 * i, 10 * i + 10);
  AddKnot(problem, 50);
  ExpectNoneWithin(problem, 13, 15);
}

// A section whose bottom is too high for what is left in it ends a branch at once; 1,584 nodes
// where only single buffers are looked at.
TEST(TreeSearch, SeesThatASectionIsTooFull) {
  const MemoryProblem problem = RandomTiling(300, 60, 1024);
  EXPECT_EQ(Search(problem, 1024, 300).outcome, SearchOutcome::kFound);
}

}  // namespace
}  // namespace cgrun
