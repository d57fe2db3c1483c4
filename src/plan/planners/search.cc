// Planner `search`: orders for all, then searches for the piece that needs the most, until it does
// not, or no search can make it lower.
#include "src/plan/planners/search.h"

#include <algorithm>
#include <utility>

#include "src/plan/planner.h"
#include "src/plan/planners/ladder.h"
#include "src/plan/planners/local_search.h"
#include "src/plan/planners/parts.h"
#include "src/plan/planners/portfolio.h"
#include "src/plan/planners/time_sections.h"
#include "src/plan/planners/windows.h"

namespace cgrun {
namespace {

MemoryPlan BestOrder(const MemoryProblem& problem, Bytes target, Effort& effort) {
  return BestOfTable(problem, target, PlannerRole::kOrder, effort);
}

// A piece and the best that is known of it. Offsets in it count from its base.
class OpenPiece {
 public:
  // `whole`: a plan of all, which is the piece's own where there is no other.
  OpenPiece(ProblemPiece piece, Bytes target, const MemoryPlan& whole, Effort& effort)
      : piece_(std::move(piece)) {
    const bool is_whole = piece_.ids.size() == whole.offsets.size();
    plan_ = is_whole ? whole : BestOrder(piece_.problem, target - piece_.base, effort);
    plan_.lower_bound_bytes = LowerBound(piece_.problem);
  }

  Bytes end() const { return piece_.base + plan_.peak_bytes; }
  Bytes bound() const { return piece_.base + plan_.lower_bound_bytes; }

  // Makes it lower, down to `target`, where that can be done.
  void Search(Bytes target, Effort& effort) {
    target = std::max(target, bound()) - piece_.base;
    const TimeSections sections(piece_.problem);
    if (Ladder::Fits(piece_.problem, sections)) {
      SearchAll(target, sections, effort);
    } else {
      SearchParts(target, sections, effort);
    }
  }

  void CopyOffsets(std::vector<Bytes>& offsets) const {
    for (size_t i = 0; i < piece_.ids.size(); ++i) {
      offsets[static_cast<size_t>(piece_.ids[i].index)] = piece_.base + plan_.offsets[i];
    }
  }

 private:
  bool IsDone(Bytes target, const Effort& effort) const {
    return plan_.peak_bytes <= std::max(target, plan_.lower_bound_bytes) || effort.over();
  }

  void SearchAll(Bytes target, const TimeSections& sections, Effort& effort) {
    constexpr int kLocalRound = 4;  // what is easy for the tree is found by then
    const int64_t before = effort.spent();
    Ladder ladder(piece_.problem, sections);
    for (int round = 0; !IsDone(target, effort); ++round) {
      if (round == kLocalRound) {
        Effort slice = effort.Slice(effort.spent() - before);
        TryLocally(target, slice);
        effort.Spend(slice.spent());
      }
      ladder.Climb(target, plan_, effort);
    }
  }

  void SearchParts(Bytes target, const TimeSections& sections, Effort& effort) {
    TryLocally(target, effort);
    constexpr int64_t kMostNodes = 10'000'000;
    for (int64_t nodes = 1000; nodes < kMostNodes && !IsDone(target, effort); nodes *= 4) {
      TryWindows(target, nodes, sections, effort);
    }
  }

  void TryWindows(Bytes target, int64_t nodes, const TimeSections& sections, Effort& effort) {
    for (Bytes gap = plan_.peak_bytes - target; gap > 0 && !IsDone(target, effort);) {
      const Bytes capacity = std::max(target, plan_.peak_bytes - gap);
      if (!LowerByWindows(piece_.problem, sections, capacity, nodes, plan_, effort)) gap /= 2;
    }
  }

  void TryLocally(Bytes target, Effort& effort) {
    MemoryPlan plan = SearchLocally(piece_.problem, target, effort);
    if (plan.peak_bytes >= plan_.peak_bytes) return;
    plan_.offsets = std::move(plan.offsets);
    plan_.peak_bytes = plan.peak_bytes;
  }

  ProblemPiece piece_;
  MemoryPlan plan_;
};

// Searches for the piece that ends highest, as long as it can still be lower, down to where the
// next one ends.
void SearchPieces(std::vector<OpenPiece>& pieces, Bytes bound, Effort& effort) {
  const auto by_end = [](const OpenPiece& a, const OpenPiece& b) { return a.end() > b.end(); };
  while (!pieces.empty() && !effort.over()) {
    std::stable_sort(pieces.begin(), pieces.end(), by_end);
    for (const OpenPiece& piece : pieces) bound = std::max(bound, piece.bound());
    const Bytes before = pieces.front().end();
    if (before <= bound) return;
    Bytes target = bound;
    for (const OpenPiece& piece : pieces) {
      if (piece.end() < before) target = std::max(target, piece.end());
    }
    pieces.front().Search(target, effort);
    if (pieces.front().end() == before && pieces.front().bound() < before) return;
  }
}

}  // namespace

MemoryPlan PlanWithin(const MemoryProblem& problem, Effort& effort) {
  MemoryPlan plan = PlanByParts(problem, [&effort](const MemoryProblem& part, Bytes target) {
    return BestOrder(part, target, effort);
  });
  const Bytes bound = LowerBound(problem);
  if (plan.peak_bytes == bound || effort.IsLate()) return plan;
  const int64_t before = effort.spent();
  ProblemPieces cut = CutIntoPieces(problem);
  std::vector<OpenPiece> pieces;
  for (ProblemPiece& piece : cut.pieces) {
    if (problem.capacity) piece.problem.capacity = *problem.capacity - piece.base;
    pieces.emplace_back(std::move(piece), bound, plan, effort);
  }
  SearchPieces(pieces, bound, effort);
  for (const OpenPiece& piece : pieces) {
    piece.CopyOffsets(cut.offsets);
    plan.lower_bound_bytes = std::max(plan.lower_bound_bytes, piece.bound());
  }
  const Bytes peak = PeakBytes(problem, cut.offsets);
  if (peak < plan.peak_bytes) plan.offsets = std::move(cut.offsets);
  plan.peak_bytes = std::min(plan.peak_bytes, peak);
  plan.nodes += effort.spent() - before;
  return plan;
}

MemoryPlan PlanSearch(const MemoryProblem& problem) {
  Effort effort(kSearchNodes);
  return PlanWithin(problem, effort);
}

}  // namespace cgrun
