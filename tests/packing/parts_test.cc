// Cutting into pieces: where, what goes to the bottom, and that the best plans of the pieces make
// the best plan of the whole.
#include "src/packing/planners/parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

std::vector<int64_t> Indices(const ProblemPiece& piece) {
  std::vector<int64_t> indices;
  for (BufferId id : piece.ids) indices.push_back(id.index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

// Returns the pieces in the order of their first buffers.
std::vector<ProblemPiece> Pieces(const MemoryProblem& problem) {
  std::vector<ProblemPiece> pieces = CutIntoPieces(problem).pieces;
  std::sort(pieces.begin(), pieces.end(),
            [](const ProblemPiece& a, const ProblemPiece& b) { return Indices(a) < Indices(b); });
  return pieces;
}

TEST(CutIntoPieces, CutsWhereNoLifespanCrosses) {
  const std::vector<ProblemPiece> pieces = Pieces({{{4, 0, 2, 1, {}, "a"},
                                                    {4, 1, 3, 1, {}, "b"},
                                                    {4, 3, 5, 1, {}, "c"},
                                                    {4, 4, 6, 1, {}, "d"},
                                                    {0, 2, 4, 1, {}, "nothing"}},
                                                   {}});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(Indices(pieces[0]), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(Indices(pieces[1]), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(pieces[0].base, 0);
  EXPECT_EQ(pieces[1].base, 0);
}

// `always` goes to the bottom, then nothing holds the two halves together; in the second half
// `half` goes to the bottom in its turn, which leaves `d` alone, and that is its own bottom.
TEST(CutIntoPieces, CutsAgainAboveTheBottom) {
  const MemoryProblem problem = {{{16, 0, 6, 1, {}, "always"},
                                  {4, 0, 2, 1, {}, "a"},
                                  {4, 1, 3, 1, {}, "b"},
                                  {8, 3, 6, 1, {}, "half"},
                                  {4, 4, 6, 1, {}, "d"}},
                                 {}};
  const ProblemPieces cut = CutIntoPieces(problem);
  ASSERT_EQ(cut.pieces.size(), 1u);
  EXPECT_EQ(Indices(cut.pieces[0]), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(cut.pieces[0].base, 16);
  EXPECT_EQ(cut.offsets[0], 0);
  EXPECT_EQ(cut.offsets[3], 16);
  EXPECT_EQ(cut.offsets[4], 24);
}

TEST(CutIntoPieces, PutsNothingBelowFixedBuffers) {
  const std::vector<ProblemPiece> pieces = Pieces(
      {{{16, 0, 4, 1, {}, "always"}, {4, 0, 2, 1, 0, "fixed"}, {4, 2, 4, 1, {}, "late"}}, {}});
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].ids.size(), 3u);
  EXPECT_EQ(pieces[0].base, 0);
}

// 20 bytes at the bottom would cost 12 more above them.
TEST(CutIntoPieces, KeepsEveryAlignmentAboveTheBottom) {
  MemoryProblem problem = {
      {{20, 0, 4, 1, {}, "always"}, {32, 0, 2, 32, {}, "a"}, {32, 1, 4, 32, {}, "b"}}, {}};
  EXPECT_EQ(Pieces(problem).size(), 1u);
  EXPECT_EQ(Pieces(problem)[0].ids.size(), 3u);
  problem.buffers[0].bytes = 64;
  EXPECT_EQ(Pieces(problem)[0].ids.size(), 2u);
  EXPECT_EQ(Pieces(problem)[0].base, 64);
}

TEST(CutIntoPieces, KeepsTheOptimum) {
  constexpr uint64_t kProblems = kSanitized ? 100 : 500;
  int64_t cut_up = 0;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    const MemoryProblem problem = RandomProblem(seed, 12);
    ProblemPieces cut = CutIntoPieces(problem);
    Bytes peak = 0;
    size_t in_pieces = 0;
    for (const ProblemPiece& piece : cut.pieces) {
      peak = std::max(peak, piece.base + OptimalPeakFromBelow(piece.problem));
      in_pieces += piece.ids.size();
      const MemoryPlan plan = PlanMemory(piece.problem);
      for (size_t i = 0; i < piece.ids.size(); ++i) {
        cut.offsets[static_cast<size_t>(piece.ids[i].index)] = piece.base + plan.offsets[i];
      }
    }
    MemoryPlan whole = {cut.offsets, PeakBytes(problem, cut.offsets), 0, false, "", 0};
    ASSERT_EQ(ToString(ValidatePlan(problem, whole)), "") << "seed " << seed;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const bool alone = std::none_of(cut.pieces.begin(), cut.pieces.end(), [&](const auto& piece) {
        return std::count(piece.ids.begin(), piece.ids.end(), BufferId(static_cast<int64_t>(i)));
      });
      if (alone)
        peak = std::max(
            peak, problem.buffers[i].bytes == 0 ? 0 : cut.offsets[i] + problem.buffers[i].bytes);
    }
    ASSERT_EQ(peak, OptimalPeakFromBelow(problem)) << "seed " << seed;
    cut_up += cut.pieces.size() > 1 || in_pieces < problem.buffers.size();
  }
  EXPECT_GT(cut_up, static_cast<int64_t>(kProblems / 2));
}

// The second part need not be better than the first one is.
TEST(PlanByParts, AsksNoMoreOfAPartThanTheWholeCanUse) {
  std::vector<Bytes> targets;
  const MemoryProblem problem = {{{4, 0, 2, 1, {}, "a"}, {9, 2, 4, 1, {}, "b"}}, {}};
  const MemoryPlan plan = PlanByParts(problem, [&targets](const MemoryProblem& part, Bytes target) {
    targets.push_back(target);
    MemoryPlan high = PlanMemory(part, "naive");
    high.offsets[0] += part.buffers[0].bytes;
    high.peak_bytes += part.buffers[0].bytes;
    return high;
  });
  EXPECT_EQ(targets, (std::vector<Bytes>{9, 9}));
  EXPECT_EQ(plan.peak_bytes, 18);
}

}  // namespace
}  // namespace cgrun
