// Planner `local_search`: placement sequences that are improved step by step. What ends at the
// peak, or any other buffer, moves to an earlier place in the sequence, where more gaps are free; a
// sequence that is no worse is kept. The budget is counted in placements, the choices are drawn
// from a fixed key: the same problem always gives the same plan.
#include "src/plan/planners/local_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/base/random.h"
#include "src/plan/planners/greedy.h"
#include "src/plan/planners/parts.h"

namespace cgrun {
namespace {

// From one start.
constexpr int64_t kMostPlacements = 100'000;
constexpr int64_t kMostSequences = 1'000;
// A placement passes others that are placed already: so many take as much time as a node.
constexpr int64_t kPassedANode = 128;
constexpr uint64_t kKey = 1;

struct Start {
  Order order;
  Fit fit;
};
constexpr Start kStarts[] = {{Order::kSize, Fit::kBest},
                             {Order::kSection, Fit::kBest},
                             {Order::kArea, Fit::kFirst},
                             {Order::kLifetime, Fit::kFirst}};

class Search {
 public:
  Search(const MemoryProblem& problem, const TimeSections& sections, const Start& start)
      : problem_(problem),
        sections_(sections),
        fit_(start.fit),
        sequence_(PlacementSequence(problem, sections, start.order)),
        best_(PlaceInSequence(problem, sections, sequence_, fit_)),
        nodes_(best_.nodes) {
    while (fixed_ < sequence_.size() && problem[sequence_[fixed_]].offset) ++fixed_;
  }

  MemoryPlan Run(Bytes target, int64_t placements, Effort& effort) {
    const auto size = static_cast<int64_t>(sequence_.size());
    const int64_t cost = size * (1 + size / kPassedANode);
    effort.Spend(cost);
    const bool can_move = sequence_.size() > fixed_ + 1;
    while (can_move && best_.peak_bytes > target && nodes_ < placements && !effort.over()) {
      Step();
      effort.Spend(cost);
    }
    best_.nodes = nodes_;
    return std::move(best_);
  }

 private:
  // The place in the sequence of the buffer that ends highest.
  size_t Culprit() const {
    const auto end = [&](BufferId id) {
      return best_.offsets[static_cast<size_t>(id.index)] + problem_[id].bytes;
    };
    const auto it = std::max_element(sequence_.begin(), sequence_.end(),
                                     [&](BufferId a, BufferId b) { return end(a) < end(b); });
    return static_cast<size_t>(it - sequence_.begin());
  }

  void Step() {
    const size_t culprit = Draw(0, 2) == 0 ? Culprit() : 0;
    const size_t moved = culprit > fixed_ ? culprit : Draw(fixed_ + 1, sequence_.size());
    const size_t to = Draw(fixed_, moved);
    std::vector<BufferId> candidate = sequence_;
    std::rotate(candidate.begin() + static_cast<std::ptrdiff_t>(to),
                candidate.begin() + static_cast<std::ptrdiff_t>(moved),
                candidate.begin() + static_cast<std::ptrdiff_t>(moved) + 1);
    MemoryPlan plan = PlaceInSequence(problem_, sections_, candidate, fit_);
    nodes_ += plan.nodes;
    if (plan.peak_bytes > best_.peak_bytes) return;
    best_ = std::move(plan);
    sequence_ = std::move(candidate);
  }

  // One of begin, …, end − 1.
  size_t Draw(size_t begin, size_t end) {
    return begin + RandomBits(kKey, 0, draws_++) % (end - begin);
  }

  const MemoryProblem& problem_;
  const TimeSections& sections_;
  const Fit fit_;
  std::vector<BufferId> sequence_;
  size_t fixed_ = 0;  // the first so many have offsets of their own
  MemoryPlan best_;
  int64_t nodes_ = 0;  // placements so far
  uint64_t draws_ = 0;
};

MemoryPlan SearchPart(const MemoryProblem& part, Bytes target) {
  Effort unlimited(std::numeric_limits<int64_t>::max());
  return SearchLocally(part, target, unlimited);
}

}  // namespace

MemoryPlan SearchLocally(const MemoryProblem& part, Bytes target, Effort& effort) {
  const TimeSections sections(part);
  const auto size = static_cast<int64_t>(part.buffers.size());
  const int64_t placements = std::min(kMostPlacements, kMostSequences * size);
  MemoryPlan best;
  int64_t nodes = 0;
  for (const Start& start : kStarts) {
    MemoryPlan plan = Search(part, sections, start).Run(target, placements, effort);
    nodes += plan.nodes;
    if (best.offsets.empty() || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
    if (best.peak_bytes <= target || effort.over()) break;
  }
  best.nodes = nodes;
  return best;
}

MemoryPlan PlanLocalSearch(const MemoryProblem& problem) {
  return PlanByParts(problem, SearchPart);
}

}  // namespace cgrun
