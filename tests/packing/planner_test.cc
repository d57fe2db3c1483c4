// Every planner on hand-made, random and published problems, checked by the validator.
#include "src/packing/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>

#include "src/base/diagnostics.h"
#include "src/packing/problem_csv.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

// The planners that only repeat what others do.
bool IsBaseline(std::string_view planner) {
  return planner == "naive" || planner == "owl" || planner == "singa" || planner == "calcgraph";
}

TEST(PlannerTable, FindsByName) {
  const std::vector<std::string> names = PlannerNames();
  EXPECT_EQ(names.size(), Planners().size());
  EXPECT_GE(
      std::count_if(Planners().begin(), Planners().end(),
                    [](const PlannerEntry& entry) { return entry.role == PlannerRole::kOrder; }),
      12);
  for (const PlannerEntry& entry : Planners()) {
    EXPECT_EQ(FindPlanner(entry.name), &entry);
    EXPECT_FALSE(entry.doc.empty());
    EXPECT_EQ(std::count(names.begin(), names.end(), entry.name), 1);
  }
  EXPECT_EQ(FindPlanner("first_fit_sise"), nullptr);
  EXPECT_EQ(SuggestName("first_fit_sise", names), "did you mean 'first_fit_size'?");
}

TEST(Planner, PacksWhatTheHeaderDraws) {
  const MemoryProblem problem = {{{64, 0, 7, 32, {}, "a"},
                                  {96, 0, 2, 32, {}, "b"},
                                  {32, 2, 5, 32, {}, "c"},
                                  {64, 3, 7, 32, {}, "d"}},
                                 {}};
  const MemoryPlan plan = PlanMemory(problem);
  EXPECT_EQ(plan.peak_bytes, 160);
  EXPECT_EQ(plan.lower_bound_bytes, 160);
  EXPECT_TRUE(plan.optimal);
  EXPECT_EQ(plan.planner, "portfolio");
  EXPECT_GE(plan.nodes, 4);
  const MemoryPlan naive = PlanMemory(problem, "naive");
  EXPECT_EQ(naive.offsets, (std::vector<Bytes>{0, 64, 160, 192}));
  EXPECT_EQ(naive.peak_bytes, 256);
  EXPECT_FALSE(naive.optimal);
}

TEST(Planner, PlansNothing) {
  for (const PlannerEntry& entry : Planners()) {
    EXPECT_EQ(PlanMemory({}, entry.name).peak_bytes, 0);
    const MemoryPlan plan =
        PlanMemory({{{0, 0, 1, 64, {}, ""}, {0, 0, 1, 64, 128, ""}}, {}}, entry.name);
    EXPECT_EQ(plan.offsets, (std::vector<Bytes>{0, 128}));
    EXPECT_EQ(plan.peak_bytes, 0);
    EXPECT_TRUE(plan.optimal);
  }
}

TEST(Planner, HonoursFixedOffsets) {
  const MemoryProblem problem = {{{64, 0, 4, 64, {}, "free"},
                                  {64, 0, 2, 64, 64, "fixed"},
                                  {64, 2, 4, 64, 0, "fixed2"},
                                  {128, 0, 4, 64, {}, "large"}},
                                 {}};
  for (const PlannerEntry& entry : Planners()) {
    const MemoryPlan plan = PlanMemory(problem, entry.name);
    EXPECT_EQ(plan.offsets[1], 64) << entry.name;
    EXPECT_EQ(plan.offsets[2], 0) << entry.name;
    EXPECT_GE(plan.offsets[0], 128) << entry.name;
  }
}

TEST(Planner, PutsWhatLivesThroughoutAtTheBottom) {
  const MemoryProblem problem = {{{256, 0, 2, 64, {}, "early"},
                                  {64, 0, 9, 64, {}, "always"},
                                  {512, 2, 9, 64, {}, "late"},
                                  // Another part: what lives through it lies below in it, too.
                                  {640, 9, 10, 64, {}, "first"},
                                  {64, 9, 11, 64, {}, "always2"}},
                                 {}};
  for (const PlannerEntry& entry : Planners()) {
    if (IsBaseline(entry.name)) continue;
    const MemoryPlan plan = PlanMemory(problem, entry.name);
    EXPECT_EQ(plan.offsets, (std::vector<Bytes>{64, 0, 64, 64, 0})) << entry.name;
  }
}

TEST(Planner, BestFitTakesTheTightestGap) {
  // There are two gaps below `lid`: 192 bytes at 0, and 64 bytes at 256.
  const MemoryProblem problem = {
      {{64, 0, 9, 64, 192, "shelf"}, {64, 0, 9, 64, 320, "lid"}, {64, 0, 9, 64, {}, "new"}}, {}};
  EXPECT_EQ(PlanMemory(problem, "first_fit_size").offsets[2], 0);
  EXPECT_EQ(PlanMemory(problem, "best_fit_size").offsets[2], 256);
}

TEST(Planner, StaysInRangeForTheLargestNumbers) {
  constexpr TimePoint kFirst = std::numeric_limits<TimePoint>::min();
  constexpr TimePoint kLast = std::numeric_limits<TimePoint>::max();
  const Bytes half = Bytes{1} << 62;
  const MemoryProblem problem = {{{half, kFirst, 0, 64, {}, "a"},
                                  {half / 2 - 7, -1, kLast, 64, {}, "b"},
                                  {half / 8, kFirst, kLast, Bytes{1} << 40, {}, "c"}},
                                 {}};
  for (const PlannerEntry& entry : Planners()) {
    EXPECT_GE(PlanMemory(problem, entry.name).peak_bytes, half + half / 2) << entry.name;
  }
}

// b and c take the place of a in turn; the block of a grows for d, which a's place does not hold.
TEST(Planner, OwlReusesBlocksWhole) {
  const MemoryProblem problem = {{{100, 0, 2, 1, {}, "a"},
                                  {40, 0, 4, 1, {}, "keep"},
                                  {60, 2, 3, 1, {}, "b"},
                                  {150, 3, 5, 1, {}, "d"}},
                                 {}};
  EXPECT_EQ(PlanMemory(problem, "owl").offsets, (std::vector<Bytes>{0, 150, 0, 0}));
}

// At its birth nothing is known of what comes: b goes into a's place, c beside it.
TEST(Planner, SingaTakesTheTightestGapAtBirth) {
  const MemoryProblem problem = {{{100, 0, 2, 1, {}, "a"},
                                  {10, 0, 9, 1, {}, "keep"},
                                  {60, 2, 9, 1, {}, "b"},
                                  {50, 3, 9, 1, {}, "c"}},
                                 {}};
  EXPECT_EQ(PlanMemory(problem, "singa").offsets, (std::vector<Bytes>{0, 100, 0, 110}));
}

TEST(Planner, CalcgraphSharesTheWorkspaceAlone) {
  const MemoryProblem problem = {{{100, 0, 1, 1, {}, "forward", 0},
                                  {10, 0, 1, 1, {}, "w1", kWorkspaceZone},
                                  {60, 1, 2, 1, {}, "gradient", 1},
                                  {50, 1, 3, 1, {}, "w2", kWorkspaceZone},
                                  {20, 2, 3, 1, {}, "w3", kWorkspaceZone}},
                                 {}};
  const MemoryPlan plan = PlanMemory(problem, "calcgraph");
  EXPECT_EQ(plan.offsets, (std::vector<Bytes>{0, 160, 100, 160, 210}));
  EXPECT_EQ(plan.peak_bytes, 230);
}

TEST(Planner, GivesThePlanThatDoesNotFitTheCapacity) {
  MemoryProblem problem = {{{64, 0, 1, 64, {}, "a"}, {64, 0, 1, 64, {}, "b"}}, 100};
  EXPECT_EQ(PlanMemory(problem).peak_bytes, 128);
}

// It never loses to a greedy order, and it finds most of what all of them together miss.
TEST(Planner, PortfolioFindsWhatGreedyOrdersMiss) {
  int64_t missed = 0, found = 0;
  constexpr uint64_t kProblems = kSanitized ? 30 : 300;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 40);
    const Bytes greedy = PlanMemory(problem, "greedy").peak_bytes;
    const MemoryPlan searched = PlanMemory(problem);
    ASSERT_LE(searched.peak_bytes, greedy) << "seed " << seed;
    if (greedy == searched.lower_bound_bytes) continue;
    ++missed;
    found += searched.peak_bytes < greedy;
  }
  EXPECT_GT(missed, kProblems / 15);
  EXPECT_GT(found, missed / 2);
}

// The bound never exceeds the true optimum, and the portfolio finds that most of the time.
TEST(Planner, IsNearTheOptimumOfTinyProblems) {
  int64_t found = 0, tight = 0;
  constexpr int64_t kProblems = 1500;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 6);
    const MemoryPlan plan = PlanMemory(problem);
    const Bytes optimum = OptimalPeak(problem);
    ASSERT_LE(plan.lower_bound_bytes, optimum) << "seed " << seed;
    ASSERT_GE(plan.peak_bytes, optimum) << "seed " << seed;
    found += plan.peak_bytes == optimum;
    tight += plan.lower_bound_bytes == optimum;
  }
  EXPECT_GT(found, kProblems * 95 / 100);
  EXPECT_GT(tight, kProblems * 75 / 100);
}

// The order of the input settles only which of several interchangeable buffers goes where.
TEST(Planner, OrdersDoNotDependOnTheOrderOfTheInput) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 30);
    const std::vector<int64_t> order =
        RandomPermutation(RandomKey(seed, "order"), static_cast<int64_t>(problem.buffers.size()));
    const MemoryProblem permuted = Permuted(problem, order);
    for (const PlannerEntry& entry : Planners()) {
      // These try `naive`, too.
      const bool several =
          entry.name == "portfolio" || entry.name == "search" || entry.name == "greedy";
      if (IsBaseline(entry.name) || several) continue;
      ASSERT_EQ(PlanMemory(problem, entry.name).peak_bytes,
                PlanMemory(permuted, entry.name).peak_bytes)
          << entry.name << ", seed " << seed;
    }
  }
}

struct Instance {
  const char* file;
  Bytes bound;  // published
};

// Finds google/minimalloc's instances in the folder minimalloc/ of $CGRUN_SHARED_DATA.
class MiniMalloc : public testing::TestWithParam<Instance> {};

TEST_P(MiniMalloc, IsPackedByEveryPlanner) {
  const char* data = std::getenv("CGRUN_SHARED_DATA");
  if (data == nullptr) GTEST_SKIP() << "CGRUN_SHARED_DATA does not name the folder of sample data";
  const std::string path = std::string(data) + "/minimalloc/" + GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " does not exist";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Diagnostics diagnostics;
  const auto file = std::make_shared<SourceFile>(SourceFile{path, text.str()});
  const std::optional<MemoryProblem> problem = ReadProblemCsv(file, diagnostics);
  ASSERT_TRUE(problem) << diagnostics.ToString();
  for (const PlannerEntry& entry : Planners()) {
    const MemoryPlan plan = PlanMemory(*problem, entry.name);
    EXPECT_GE(plan.lower_bound_bytes, GetParam().bound);
    std::cout << GetParam().file << " " << entry.name << ": peak / bound "
              << static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.lower_bound_bytes)
              << "\n";
  }
  EXPECT_LT(PlanMemory(*problem).peak_bytes, GetParam().bound * 7 / 5);
}

INSTANTIATE_TEST_SUITE_P(
    Instances, MiniMalloc,
    testing::Values(Instance{"A.1048576.csv", 1048576}, Instance{"B.1048576.csv", 1048576},
                    Instance{"C.1048576.csv", 1039360}, Instance{"D.1048576.csv", 986112},
                    Instance{"E.1048576.csv", 1048576}, Instance{"input.12.csv", 12}),
    [](const auto& info) { return std::string(1, info.param.file[0]); });

}  // namespace
}  // namespace cgrun
