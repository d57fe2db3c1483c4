// Planner `search`: orders for all, then searches for the piece that needs the most, until it does
// not, or no search can make it lower.
#include "src/packing/planners/search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/packing/planner.h"
#include "src/packing/planners/ladder.h"
#include "src/packing/planners/parts.h"
#include "src/packing/planners/peak_first.h"
#include "src/packing/planners/portfolio.h"
#include "src/packing/planners/squeaky_wheel.h"
#include "src/packing/planners/time_sections.h"
#include "src/packing/planners/windows.h"

namespace cgrun {
namespace {

// A piece and the best that is known of it. Offsets in it count from its base.
class OpenPiece {
 public:
  // `whole`: a plan of all; where it keeps the piece above its base, it is one of the piece, too.
  OpenPiece(ProblemPiece piece, Bytes target, const MemoryPlan& whole, Effort& effort)
      : piece_(std::move(piece)) {
    bool is_above = true;
    for (size_t i = 0; i < piece_.ids.size(); ++i) {
      const Bytes offset = whole.offsets[static_cast<size_t>(piece_.ids[i].index)] - piece_.base;
      is_above = is_above && (offset >= 0 || piece_.problem.buffers[i].bytes == 0);
      plan_.offsets.push_back(offset);
    }
    plan_.peak_bytes = PeakBytes(piece_.problem, plan_.offsets);
    if (!is_above) plan_ = BestOrder(piece_.problem, target - piece_.base, effort);
    plan_.lower_bound_bytes = LowerBound(piece_.problem);
  }

  Bytes end() const { return piece_.base + plan_.peak_bytes; }
  Bytes bound() const { return piece_.base + plan_.lower_bound_bytes; }

  // Makes it lower, down to `target`, where that can be done: three searches in turn, the tree's
  // two with the same nodes.
  void Search(Bytes target, Effort& effort) {
    target = std::max(target, bound()) - piece_.base;
    const TimeSections sections(piece_.problem);
    SqueakyWheel wheel(piece_.problem, sections);
    PeakFirst peak_first(piece_.problem, sections);
    std::optional<Ladder> ladder;
    if (Ladder::Fits(piece_.problem, sections)) ladder.emplace(piece_.problem, sections);
    const bool has_peak = HasPeak(sections);
    int64_t nodes = kFirstNodes * std::ssize(piece_.ids);  // of each search in a round
    for (int64_t round = 0; !IsDone(target, effort); ++round) {
      if (has_peak || !ladder) TurnWheel(target, round, kWheelShare * nodes, wheel, effort);
      if (has_peak) TryPeakFirst(target, round, nodes, peak_first, effort);
      const int64_t before = effort.spent();
      if (!ladder) TryWindows(target, nodes / kWindows, sections, effort);
      if (ladder && !IsDone(target, effort)) ladder->Climb(target, plan_, effort);
      effort.Spend(1);
      nodes = std::max(nodes, effort.spent() - before);
    }
  }

  void CopyOffsets(std::vector<Bytes>& offsets) const {
    for (size_t i = 0; i < piece_.ids.size(); ++i) {
      offsets[static_cast<size_t>(piece_.ids[i].index)] = piece_.base + plan_.offsets[i];
    }
  }

 private:
  static constexpr int64_t kFirstNodes = 64;  // a buffer
  static constexpr int64_t kWheelShare = 6;   // it finds what the others do not more often than not
  static constexpr int64_t kWindows = 16;     // about so many are tried in a round

  // Returns whether many buffers are alive in none of the fullest sections. If nearly all are, the
  // whole is a puzzle. Then an order of its pieces is right only by chance, and only the tree is of
  // use.
  bool HasPeak(const TimeSections& sections) const {
    constexpr double kFull = 0.9, kMuch = 1.0 / 6;
    const std::vector<Bytes> totals = sections.LargestTotals();
    const auto full = kFull * static_cast<double>(*std::max_element(totals.begin(), totals.end()));
    const auto others = std::count_if(totals.begin(), totals.end(), [full](Bytes total) {
      return static_cast<double>(total) < full;
    });
    return static_cast<double>(others) >= kMuch * static_cast<double>(totals.size());
  }

  bool IsDone(Bytes target, const Effort& effort) const {
    return plan_.peak_bytes <= std::max(target, plan_.lower_bound_bytes) || effort.over();
  }

  // Returns the capacity to look for. It is the capacity of the problem until that is met, and the
  // target afterwards. If `step` is not 0, it is 1 / 2^step of the way there.
  Bytes CapacityOf(Bytes target, int64_t step) const {
    Bytes low = std::max(target, plan_.lower_bound_bytes);
    const Bytes asked = piece_.problem.capacity.value_or(kNoLimit);
    if (low <= asked && asked < plan_.peak_bytes) low = asked;
    return step == 0 ? low : plan_.peak_bytes - ((plan_.peak_bytes - low) >> step);
  }

  // Three quarters of the nodes go to the target, and the rest to steps towards it.
  void TurnWheel(Bytes target, int64_t round, int64_t nodes, SqueakyWheel& wheel, Effort& effort) {
    for (const int64_t step : {int64_t{0}, 1 + round % 3}) {
      const int64_t end = effort.spent() + (step == 0 ? 3 : 1) * nodes / 4;
      bool found = true;
      while (found && effort.spent() < end && !IsDone(target, effort)) {
        found = wheel.Run(CapacityOf(target, step), end - effort.spent(), effort);
        if (found) Take(wheel.offsets());
      }
    }
  }

  void TryPeakFirst(Bytes target, int64_t round, int64_t nodes, PeakFirst& peak_first,
                    Effort& effort) {
    for (int64_t i = 0; i < PeakFirst::kShares && !IsDone(target, effort); ++i) {
      const Bytes capacity = CapacityOf(target, round % 2 * (1 + round / 2 % 3));
      const SearchOutcome outcome = peak_first.Run(capacity, nodes / PeakFirst::kShares, effort);
      if (outcome == SearchOutcome::kFound) Take(peak_first.offsets());
      if (outcome == SearchOutcome::kNone) {
        plan_.lower_bound_bytes = std::max(plan_.lower_bound_bytes, capacity + 1);
      }
    }
  }

  // A plan that is lower.
  void Take(const std::vector<Bytes>& offsets) {
    plan_.offsets = offsets;
    plan_.peak_bytes = PeakBytes(piece_.problem, offsets);
  }

  void TryWindows(Bytes target, int64_t nodes, const TimeSections& sections, Effort& effort) {
    for (Bytes gap = plan_.peak_bytes - target; gap > 0 && !IsDone(target, effort);) {
      const Bytes capacity = std::max(target, plan_.peak_bytes - gap);
      if (!LowerByWindows(piece_.problem, sections, capacity, nodes, plan_, effort)) gap /= 2;
    }
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
  Improve(problem, plan, effort);
  return plan;
}

void Improve(const MemoryProblem& problem, MemoryPlan& plan, Effort& effort) {
  const Bytes bound = LowerBound(problem);
  if (plan.peak_bytes == bound || effort.IsLate()) return;
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
}

MemoryPlan PlanSearch(const MemoryProblem& problem) {
  Effort effort(kSearchNodes);
  return PlanWithin(problem, effort);
}

}  // namespace cgrun
