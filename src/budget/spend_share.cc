// Each step keeps its result only where the arena gets smaller.
#include "src/budget/spend_share.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/budget/fit_cap.h"
#include "src/budget/plan_once.h"
#include "src/budget/recompute_at_peak.h"
#include "src/plan/cost_model.h"

namespace cgrun {
namespace {

constexpr int64_t kFewNodesSearched = 3'000'000;  // of all schedules that are looked at
constexpr int64_t kSchedulesSearched = 5000;      // at most
constexpr int kMostLower = 4;                     // arenas that are tried
constexpr int64_t kLowerParts = 128;              // each arena is such a part lower

// Runs the search that caps use, for arenas that are a little lower each time. It goes on while the
// search finds a plan in the time that may be spent. The ways above take what is best at each peak,
// which is not always best for the whole schedule.
MemoryLayout SearchLower(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                         const Target& target, const BudgetOptions& asked) {
  BudgetOptions options = asked;
  options.swap.reset();
  const auto nodes = static_cast<int64_t>(entries[0].graph.nodes.size());
  if (nodes > kLargeGraph) return layout;
  const int64_t searched = std::min(kFewNodesSearched, kSchedulesSearched * nodes);
  for (int tries = 0; tries < kMostLower; ++tries) {
    options.arena_cap = layout.arena_bytes - layout.arena_bytes / kLowerParts;
    if (options.arena_cap <= layout.persistent_bytes) break;
    std::vector<CompiledEntry> tried = entries;
    MemoryLayout lower = PlanWithin(tried, layout, target, options, {1, searched});
    lower.cap_out_of_reach = false;
    const bool is_lower = lower.arena_bytes < layout.arena_bytes;
    if (!is_lower || !TakesNoLonger(tried, entries, asked.recompute_share)) break;
    entries = std::move(tried);
    layout = std::move(lower);
  }
  return layout;
}

}  // namespace

MemoryLayout PlanWithLess(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                          const Target& target, const BudgetOptions& options) {
  if (options.recompute_share <= 0) return Packed(entries, std::move(layout), options.layout);
  const RecomputeGoal goal{options.recompute_share};
  std::vector<bool> tried(entries.size());
  while (true) {
    std::map<size_t, CompiledEntry> others;  // in place of an entry point, as it is or as it was
    for (size_t e = 0; e < entries.size(); ++e) {
      const bool largest = layout.entries[e].transient_bytes == layout.transient_bytes;
      if (!largest || tried[e]) continue;
      tried[e] = true;
      if (auto with_less = RecomputedAtPeak(entries[e], target, options, goal)) {
        others.emplace(e, std::move(*with_less));
      }
    }
    const auto exchange = [&] {
      for (auto& [e, other] : others) std::swap(entries[e], other);
    };
    if (others.empty()) return Packed(entries, std::move(layout), options.layout);
    exchange();
    MemoryLayout less = PlanOnce(entries, options.layout);
    if (less.arena_bytes >= layout.lower_bound_bytes) {
      exchange();
      layout = Packed(entries, std::move(layout), options.layout);
      exchange();
    }
    if (less.arena_bytes >= layout.arena_bytes) {
      exchange();
      return layout;
    }
    less.recompute_saved_bytes = layout.recompute_saved_bytes +
                                 std::max<int64_t>(layout.lower_bound_bytes - less.arena_bytes, 0);
    layout = std::move(less);
  }
}

bool TakesNoLonger(const std::vector<CompiledEntry>& tried,
                   const std::vector<CompiledEntry>& entries, double share) {
  for (size_t e = 0; e < tried.size(); ++e) {
    const double most = std::max(ShareForLess(entries[e].graph), share);
    if (ShareForLess(tried[e].graph) > most) return false;
  }
  return true;
}

MemoryLayout PlanLower(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                       const Target& target, const BudgetOptions& options) {
  layout = PlanWithLess(entries, std::move(layout), target, options);
  const bool searches = options.effort == PlanEffort::kFull && options.arena_cap == 0 &&
                        options.recompute_share > 0 && options.closes_gaps;
  return searches ? SearchLower(entries, std::move(layout), target, options) : layout;
}

}  // namespace cgrun
