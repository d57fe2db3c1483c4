// PlanWithin: tries with lower and lower goals.
#include "src/budget/fit_cap.h"

#include <algorithm>
#include <utility>

#include "src/budget/plan_once.h"
#include "src/budget/recompute_at_peak.h"

namespace cgrun {
namespace {

constexpr int kMostPackings = 6;    // on the way to a cap
constexpr double kAnyShare = 1000;  // of a step's time

}  // namespace

MemoryLayout PlanWithin(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const BudgetOptions& options,
                        const SearchEffort& effort) {
  const std::vector<CompiledEntry> before = entries;
  const std::vector<EntryLayout> layouts_before = layout.entries;
  const int64_t whole_bytes = layout.arena_bytes + layout.recompute_saved_bytes;
  RecomputeGoal goal{kAnyShare, options.arena_cap - layout.persistent_bytes, /*may_swap=*/true};
  for (int i = 0; i < effort.packings && layout.arena_bytes > options.arena_cap; ++i) {
    std::vector<CompiledEntry> tried = before;
    goal.nodes_searched = i == 0 ? effort.nodes : effort.nodes_again;
    goal.is_final = effort.is_final;
    for (size_t e = 0; e < tried.size(); ++e) {
      if (layouts_before[e].transient_bytes <= goal.bytes) continue;
      RecomputeAtPeak(tried[e], target, options, goal);
    }
    MemoryLayout less = PlanOnce(tried, options.layout);
    const bool out_of_reach = less.lower_bound_bytes > options.arena_cap;
    goal.bytes -= std::max<Bytes>(less.arena_bytes - options.arena_cap, kDefaultAlignment);
    const bool smaller = less.arena_bytes < layout.arena_bytes;
    if (smaller) {
      layout = std::move(less);
      entries = std::move(tried);
    } else if (i > 0) {
      break;
    }
    layout.cap_out_of_reach = out_of_reach;
    if (out_of_reach) break;
  }
  layout.recompute_saved_bytes = whole_bytes - layout.arena_bytes;
  return layout;
}

MemoryLayout PlanWithinCap(std::vector<CompiledEntry>& entries, const MemoryLayout& layout,
                           const Target& target, const BudgetOptions& options) {
  std::vector<CompiledEntry> plain = entries;
  if (options.effort == PlanEffort::kFull) {
    MemoryLayout searched =
        PlanWithin(entries, layout, target, options,
                   {kMostPackings, kNodesSearched, kNodesSearchedAgain, /*is_final=*/true});
    if (searched.arena_bytes <= options.arena_cap || searched.cap_out_of_reach) return searched;
  }
  entries = std::move(plain);
  return PlanWithin(
      entries, layout, target, options,
      {options.effort == PlanEffort::kQuick ? 1 : kMostPackings, 0, 0, /*is_final=*/true});
}

}  // namespace cgrun
