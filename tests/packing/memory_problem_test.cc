// Tests faults, lower bound and parts of packing problems.
#include "src/packing/memory_problem.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

using Field = ProblemFault::Field;

constexpr Bytes kMost = std::numeric_limits<Bytes>::max();

MemoryProblem Problem(std::vector<Buffer> buffers) { return {std::move(buffers), {}}; }

// Returns the only fault of the problem.
ProblemFault OnlyFault(const MemoryProblem& problem) {
  const std::vector<ProblemFault> faults = ProblemFaults(problem);
  EXPECT_EQ(faults.size(), 1u);
  return faults.empty() ? ProblemFault() : faults.front();
}

TEST(ProblemFaults, FindsNoneInARightProblem) {
  EXPECT_TRUE(ProblemFaults({}).empty());
  const Bytes half = Bytes{1} << 62;
  EXPECT_TRUE(ProblemFaults(Problem({{half, 0, 1, 64, 0, "a"}, {64, 0, 1, 64, {}, "b"}})).empty());
  EXPECT_TRUE(ProblemFaults(Problem({{kMost - 1, 0, 1, 1, {}, "a"}})).empty());
}

TEST(ProblemFaults, FindsEachKind) {
  ProblemFault fault = OnlyFault(Problem({{-1, 0, 1, 64, {}, "a"}}));
  EXPECT_EQ(fault.field, Field::kBytes);
  EXPECT_EQ(fault.message, "the size -1 of 'a' is negative");
  fault = OnlyFault(Problem({{1, 4, 4, 64, {}, ""}}));
  EXPECT_EQ(fault.field, Field::kLifespan);
  EXPECT_EQ(fault.message, "the lifespan [4, 4) of buffer 0 is empty");
  for (Bytes alignment : {-64, 0, 3, 96}) {
    fault = OnlyFault(Problem({{1, 0, 1, alignment, {}, "a"}}));
    EXPECT_EQ(fault.field, Field::kAlignment);
  }
  fault = OnlyFault(Problem({{1, 0, 1, 64, -64, "a"}}));
  EXPECT_EQ(fault.field, Field::kOffset);
  EXPECT_EQ(fault.message, "the offset -64 of 'a' is negative");
  fault = OnlyFault(Problem({{1, 0, 1, 64, 32, "a"}}));
  EXPECT_EQ(fault.message, "the offset 32 of 'a' is not a multiple of its alignment 64");
}

TEST(ProblemFaults, NamesBothFixedBuffersThatCollide) {
  const ProblemFault fault = OnlyFault(
      Problem({{65, 2, 9, 64, 0, "a"}, {64, 0, 9, 64, 192, "b"}, {64, 0, 3, 64, 64, "c"}}));
  EXPECT_EQ(fault.first, BufferId(0));
  EXPECT_EQ(fault.second, BufferId(2));
  EXPECT_EQ(fault.message, "the fixed offsets of 'a' and 'c' make them share bytes in step 2");
  // Touching in time or in space is no collision.
  EXPECT_TRUE(ProblemFaults(Problem({{65, 3, 9, 64, 0, "a"}, {64, 0, 3, 64, 64, "c"}})).empty());
  EXPECT_TRUE(ProblemFaults(Problem({{64, 2, 9, 64, 0, "a"}, {64, 0, 3, 64, 64, "c"}})).empty());
}

TEST(ProblemFaults, FindsSumsThatCannotBeAddressed) {
  const Bytes half = Bytes{1} << 62;
  const std::vector<MemoryProblem> problems = {
      Problem({{half, 0, 1, 64, {}, "a"}, {half, 5, 6, 64, {}, "b"}}),
      Problem({{half, 0, 1, 64, half, "a"}}),
      Problem({{kMost, 0, 1, 1, {}, "a"}}),
      Problem({{1, 0, 1, half, {}, "a"}, {1, 0, 1, half, {}, "b"}}),
      Problem({{kMost, 0, 1, 1, {}, "a"}, {kMost, 0, 1, 1, {}, "b"}, {kMost, 0, 1, 1, {}, "c"}}),
  };
  for (const MemoryProblem& problem : problems) {
    const ProblemFault fault = OnlyFault(problem);
    EXPECT_EQ(fault.field, Field::kProblem);
    const int64_t first = &problem == &problems.front() ? 1 : 0;  // that is too much
    EXPECT_EQ(fault.first, BufferId(first));
  }
}

TEST(ProblemFaults, StopsAtTheLimit) {
  const MemoryProblem problem = Problem(std::vector<Buffer>(10, {-1, 3, 2, 5, -7, "a"}));
  EXPECT_EQ(ProblemFaults(problem).size(), 40u);
  EXPECT_EQ(ProblemFaults(problem, 7).size(), 7u);
}

TEST(LowerBound, IsTheFullestStepWhereNothingIsPadded) {
  EXPECT_EQ(LowerBound({}), 0);
  const MemoryProblem problem = Problem({{64, 0, 7, 1, {}, "a"},
                                         {96, 0, 2, 1, {}, "b"},
                                         {32, 2, 5, 1, {}, "c"},
                                         {70, 3, 7, 1, {}, "d"},
                                         {0, 3, 4, 4096, {}, "nothing"}});
  EXPECT_EQ(LowerBound(problem), 64 + 32 + 70);
}

TEST(LowerBound, CountsThePaddingOfAllButTheTopmost) {
  EXPECT_EQ(LowerBound(Problem({{1, 0, 1, 64, {}, "a"}})), 1);
  EXPECT_EQ(LowerBound(Problem({{1, 0, 1, 64, {}, "a"}, {60, 0, 1, 64, {}, "b"}})), 65);
  // The small one may fill the padding of the others.
  EXPECT_EQ(
      LowerBound(Problem({{1, 0, 1, 64, {}, "a"}, {60, 0, 1, 64, {}, "b"}, {3, 0, 1, 1, {}, "c"}})),
      65);
}

TEST(LowerBound, IsAtLeastTheEndOfFixedBuffers) {
  EXPECT_EQ(LowerBound(Problem({{10, 0, 1, 64, 640, "a"}, {10, 0, 1, 64, {}, "b"}})), 650);
}

TEST(LowerBound, StaysInRangeForTheLargestSizes) {
  const Bytes quarter = Bytes{1} << 61;
  EXPECT_EQ(LowerBound(Problem({{quarter, 0, 2, 64, {}, "a"}, {quarter, 1, 3, 64, {}, "b"}})),
            2 * quarter);
}

TEST(LowerBound, EqualsItsDefinitionOnRandomProblems) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 20);
    ASSERT_EQ(LowerBound(problem), SlowLowerBound(problem)) << "seed " << seed;
  }
}

TEST(SplitByTime, SeparatesWhatNeverMeets) {
  const MemoryProblem problem = Problem({{1, 5, 6, 64, {}, "c"},
                                         {1, 0, 2, 64, {}, "a"},
                                         {0, 0, 9, 64, {}, "nothing"},
                                         {1, 2, 3, 64, {}, "b"},
                                         {1, 1, 2, 64, {}, "a2"},
                                         {1, 4, 9, 64, {}, "c2"}});
  const std::vector<std::vector<BufferId>> expected = {
      {BufferId(1), BufferId(4)}, {BufferId(3)}, {BufferId(0), BufferId(5)}};
  EXPECT_EQ(SplitByTime(problem), expected);
}

}  // namespace
}  // namespace cgrun
