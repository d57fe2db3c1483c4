// The rungs, and what a search at one of them tells of the plan.
#include "src/packing/planners/ladder.h"

#include <algorithm>
#include <iterator>

namespace cgrun {
namespace {

Bytes RoundUpToMultiple(Bytes bytes, Bytes grain) { return (bytes + grain - 1) / grain * grain; }

}  // namespace

Ladder::Ladder(const MemoryProblem& problem, const TimeSections& sections)
    : problem_(problem),
      search_(problem, sections),
      grain_(UnitOf(problem).bytes),
      nodes_(2 * static_cast<int64_t>(problem.buffers.size())) {}

bool Ladder::Fits(const MemoryProblem& problem, const TimeSections& sections) {
  constexpr int64_t kMostCells = 1'000'000;
  if (problem.buffers.size() > TreeSearch::kMostBuffers) return false;
  int64_t cells = 0;
  for (const SectionRange& range : sections.ranges()) cells += range.end - range.begin;
  return cells <= kMostCells;
}

void Ladder::Climb(Bytes target, MemoryPlan& plan, Effort& effort) {
  plan.lower_bound_bytes = RoundUpToMultiple(plan.lower_bound_bytes, grain_);
  for (const Preorder& order : kPreorders) {
    const Bytes capacity = problem_.capacity.value_or(kNoLimit) / grain_ * grain_;
    const bool is_asked = plan.lower_bound_bytes <= capacity && capacity < plan.peak_bytes;
    const Bytes low = std::max(target / grain_ * grain_, plan.lower_bound_bytes);
    if (is_asked || !is_varied()) {
      Search(is_asked ? capacity : low, order, nodes_, plan, effort);
    }
    // The asked capacity may be out of reach. It must not keep plans from growing lower, so that
    // every other round steps down towards it.
    if (!is_asked) Descend(low, order, plan, effort);
    if (is_asked && round_ % 2 == 1) Descend(capacity, order, plan, effort);
    ++turn_;
  }
  if (!is_varied()) nodes_ *= 2;
  ++round_;
  effort.Spend(1);
}

// Steps down towards `low` as long as they succeed: a half to a sixteenth of the way.
void Ladder::Descend(Bytes low, const Preorder& order, MemoryPlan& plan, Effort& effort) {
  constexpr size_t kSteps = 4;  // not the number of preorders: each comes to all of them
  const Bytes part = Bytes{2} << (turn_ + turn_ / kSteps) % kSteps;
  bool found = true;
  while (found && plan.peak_bytes > low) {
    const Bytes step = std::max((plan.peak_bytes - low) / part / grain_ * grain_, grain_);
    if (plan.peak_bytes - step <= low && !is_varied()) return;  // was tried before
    found = Search(plan.peak_bytes - step, order, nodes_ / 2, plan, effort);
  }
}

// Returns true where that made the plan lower.
bool Ladder::Search(Bytes capacity, const Preorder& order, int64_t nodes, MemoryPlan& plan,
                    Effort& effort) {
  const bool is_open = plan.lower_bound_bytes <= capacity && capacity < plan.peak_bytes;
  if (!is_open || effort.over()) return false;
  const SearchOutcome outcome =
      search_.Run(capacity, order, nodes, effort, is_varied() ? turn_ : 0);
  if (outcome == SearchOutcome::kNone) {
    plan.lower_bound_bytes =
        std::max(plan.lower_bound_bytes, RoundUpToMultiple(capacity + 1, grain_));
  }
  if (outcome != SearchOutcome::kFound) return false;
  plan.offsets = search_.offsets();
  plan.peak_bytes = PeakBytes(problem_, plan.offsets);
  return true;
}

}  // namespace cgrun
