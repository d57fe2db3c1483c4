// Pack: plans, bounds and proofs against the validator, exhaustive search and the greedy orders.
#include "src/packing/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>

#include "src/packing/problem_csv.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

MemoryProblem DrawProblem(int64_t most_buffers) {
  return RandomProblem(*rc::gen::arbitrary<uint64_t>(), most_buffers);
}

void CheckPacking(const MemoryProblem& problem, const Packing& packing) {
  const MemoryPlan& plan = packing.plan;
  MemoryProblem unlimited = problem;
  unlimited.capacity.reset();
  RC_ASSERT(ToString(ValidatePlan(unlimited, plan)) == "");
  RC_ASSERT(plan.lower_bound_bytes >= SlowLowerBound(problem));
  RC_ASSERT(plan.optimal == (plan.peak_bytes == plan.lower_bound_bytes));
  RC_ASSERT((packing.verdict != Verdict::kGap) == plan.optimal);
  RC_ASSERT((packing.verdict == Verdict::kBoundMet) == (plan.peak_bytes == LowerBound(problem)));
}

RC_GTEST_PROP(Pack, IsValidAndNeverWorseThanAGreedyOrder, ()) {
  const MemoryProblem problem = DrawProblem(40);
  const Packing packing = Pack(problem, {.nodes = *rc::gen::inRange<int64_t>(0, 3000)});
  CheckPacking(problem, packing);
  for (const PlannerEntry& entry : Planners()) {
    if (entry.role != PlannerRole::kOrder) continue;
    RC_ASSERT(packing.plan.peak_bytes <= PlanMemory(problem, entry.name).peak_bytes);
  }
}

RC_GTEST_PROP(Pack, GivesTheSamePlanForTheSameNodes, ()) {
  const MemoryProblem problem = DrawProblem(40);
  const PackBudget budget = {.nodes = *rc::gen::inRange<int64_t>(0, 3000)};
  const Packing once = Pack(problem, budget), twice = Pack(problem, budget);
  RC_ASSERT(once.plan.offsets == twice.plan.offsets);
  RC_ASSERT(once.plan.lower_bound_bytes == twice.plan.lower_bound_bytes);
  RC_ASSERT(once.plan.nodes == twice.plan.nodes);
}

// The exhaustive searches are the slow answer on which the tests of this file rest.
TEST(Pack, HasTwoExhaustiveSearchesThatAgree) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 6);
    ASSERT_EQ(OptimalPeakFromBelow(problem), OptimalPeak(problem)) << "seed " << seed;
  }
}

// A plan that is called optimal is the optimum, and the bound is never above it.
TEST(Pack, AgreesWithExhaustiveSearch) {
  constexpr uint64_t kProblems = kSanitized ? 300 : 5'000;
  int64_t by_bound = 0, by_search = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 12);
    const Packing packing = Pack(problem, {.nodes = kSearchNodes});
    const Bytes optimum = OptimalPeakFromBelow(problem);
    ASSERT_GE(packing.plan.peak_bytes, optimum) << "seed " << seed;
    ASSERT_LE(packing.plan.lower_bound_bytes, optimum) << "seed " << seed;
    ASSERT_TRUE(packing.verdict == Verdict::kGap || packing.plan.lower_bound_bytes == optimum);
    by_bound += packing.verdict == Verdict::kBoundMet;
    by_search += packing.verdict == Verdict::kExhausted;
  }
  EXPECT_GT(by_bound, 0);
  EXPECT_GT(by_search, 0);
  EXPECT_GT(by_bound + by_search, static_cast<int64_t>(kProblems * 98 / 100));
}

// Too large for a proof: the plan is no better than what is said of it.
TEST(Pack, SaysWhatIsLeftOpen) {
  const MemoryProblem problem = RandomTiling(1, 400, 1 << 20);
  const Packing packing = Pack(problem, {.nodes = 20'000});
  EXPECT_EQ(packing.verdict, Verdict::kGap);
  EXPECT_EQ(packing.plan.lower_bound_bytes, 1 << 20);
  EXPECT_GT(packing.plan.peak_bytes, 1 << 20);
  EXPECT_FALSE(packing.plan.optimal);
}

// The problems are of the kind of MiniMalloc's instances, with a least peak that is known. So the
// test needs no files.
TEST(Pack, PutsTilingsTogether) {
  constexpr uint64_t kProblems = kSanitized ? 3 : 20;
  uint64_t solved = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomTiling(seed, 150, 1 << 20);
    const Packing packing = Pack(problem, {.nodes = 1'000'000});
    EXPECT_LT(packing.plan.peak_bytes, (1 << 20) * 5 / 4) << "seed " << seed;
    solved += packing.verdict == Verdict::kBoundMet;
  }
  EXPECT_GE(solved, kProblems * 15 / 20);
}

TEST(Pack, PacksNothing) {
  EXPECT_EQ(Pack({}).plan.peak_bytes, 0);
  EXPECT_EQ(Pack({}).verdict, Verdict::kBoundMet);
  const Packing packing = Pack({{{0, 0, 1, 64, {}, ""}, {0, 0, 1, 64, 128, ""}}, {}});
  EXPECT_EQ(packing.plan.offsets, (std::vector<Bytes>{0, 128}));
}

TEST(Pack, KeepsFixedOffsetsAndAlignments) {
  const MemoryProblem problem = {{{100, 0, 4, 1, 64, "fixed"},
                                  {48, 0, 9, 16, {}, "low"},
                                  {48, 2, 9, 32, {}, "high"},
                                  {7, 4, 9, 1, {}, "late"}},
                                 {}};
  const Packing packing = Pack(problem);
  EXPECT_EQ(packing.plan.offsets[0], 64);
  EXPECT_EQ(packing.plan.offsets[2] % 32, 0);
  EXPECT_TRUE(ValidatePlan(problem, packing.plan).empty());
}

// Eight of three bytes around one fixed byte, which leaves a gap that three of them do not fill:
// one more than the bound. Without symmetry the proof would go through 8! orders.
TEST(Pack, SeesThatIdenticalBuffersAreInterchangeable) {
  MemoryProblem problem;
  for (int i = 0; i < 8; ++i) problem.buffers.push_back({3, 0, 2, 1, {}, ""});
  problem.buffers.push_back({1, 0, 2, 1, 10, ""});
  const Packing packing = Pack(problem);
  EXPECT_EQ(LowerBound(problem), 25);
  EXPECT_EQ(packing.plan.peak_bytes, 26);
  EXPECT_EQ(packing.plan.lower_bound_bytes, 26);
  EXPECT_EQ(packing.verdict, Verdict::kExhausted);
  EXPECT_LT(packing.plan.nodes, 1000);
}

TEST(Pack, EndsInTime) {
  const MemoryProblem problem = RandomProblem(3, 400);
  const Packing packing = Pack(problem, {.seconds = 0.0});
  EXPECT_TRUE(ValidatePlan(problem, packing.plan).empty());
}

Bytes BestOrder(const MemoryProblem& problem) {
  Bytes best = std::numeric_limits<Bytes>::max();
  for (const PlannerEntry& entry : Planners()) {
    if (entry.role != PlannerRole::kOrder) continue;
    best = std::min(best, PlanMemory(problem, entry.name).peak_bytes);
  }
  return best;
}

// Once the time is over, the first order alone is tried; with nodes all of them are.
TEST(Pack, HasAPlanAsSoonAsOneOrderHas) {
  int64_t better = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const MemoryProblem problem = RandomTiling(seed, 300, 1 << 20);
    const Bytes first = PlanMemory(problem, "first_fit_size").peak_bytes;
    const Bytes best = BestOrder(problem);
    EXPECT_EQ(Pack(problem, {.seconds = 0.0}).plan.peak_bytes, first);
    EXPECT_LE(Pack(problem, {.nodes = 0}).plan.peak_bytes, best);
    better += best < first;
  }
  EXPECT_GT(better, 0);
}

struct Instance {
  const char* name;
  Bytes most;  // the peak that the default budget keeps to
};

constexpr Bytes kCapacity = 1 << 20;  // that they were published with

// Finds google/minimalloc's instances in the folder minimalloc/ of $CGRUN_SHARED_DATA.
class MiniMalloc : public testing::TestWithParam<Instance> {};

TEST_P(MiniMalloc, IsPacked) {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) GTEST_SKIP() << "CGRUN_SHARED_DATA does not name the folder of sample data";
  const std::string path = std::string(data) + "/minimalloc/" + GetParam().name + ".1048576.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Diagnostics diagnostics;
  const auto problem =
      ReadProblemCsv(std::make_shared<SourceFile>(SourceFile{path, text.str()}), diagnostics);
  ASSERT_TRUE(problem) << diagnostics.ToString();
  const Packing packing = Pack(*problem);
  EXPECT_LE(packing.plan.peak_bytes, GetParam().most);
  MemoryProblem limited = *problem;
  limited.capacity = kCapacity;
  EXPECT_LE(Pack(limited, {.nodes = 1'000'000}).plan.peak_bytes, kCapacity);
  // One that is not met keeps no plan from growing lower.
  limited.capacity = packing.plan.lower_bound_bytes;
  EXPECT_LE(Pack(limited, {.nodes = 2'000'000}).plan.peak_bytes, kCapacity);
}

INSTANTIATE_TEST_SUITE_P(Instances, MiniMalloc,
                         testing::Values(Instance{"A", 1048576}, Instance{"B", 1048576},
                                         Instance{"C", 1039360}, Instance{"D", 1011712},
                                         Instance{"E", 1048576}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cgrun
