// Ways to a lower peak, with more or less weight on bytes and, where there is a swap file, on the
// time of transfers. Without a cap the way that needs least is taken, with one the way that takes
// least time.
#include "src/budget/recompute_at_peak.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/budget/kept_search.h"
#include "src/budget/single_threaded.h"
#include "src/budget/swap.h"

namespace cgrun {
namespace {

constexpr std::array<Ranking, 4> kRecomputing = {{{1.0}, {0.6}, {1.3}, {2.5}}};
constexpr std::array<Ranking, 4> kSwapping = {{{1.0, 1.0}, {1.0, 0.1}, {2.5, 0.1}, {1.0, 0.01}}};

// A full effort tries all ways. A quick one, and one for a large graph, tries the plainest of each
// kind. Ways without swaps are always tried, as swaps do not always come as far down.
std::vector<std::span<const Ranking>> RankingsFor(const Graph& graph, const BudgetOptions& options,
                                                  const RecomputeGoal& goal) {
  const bool is_full = options.effort == PlanEffort::kFull && !TakesLong(graph);
  const size_t each = is_full ? kRecomputing.size() : 1;
  const auto recomputing = std::span(kRecomputing).first(each);
  if (!goal.may_swap || !MaySwap(options)) return {recomputing};
  return {recomputing, std::span(kSwapping).first(each)};
}

// Looks for other recomputations, which take less time.
void SearchFurther(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                   const RecomputeGoal& goal) {
  if (CountSwaps(entry.graph) > 0 || options.layout.incremental) return;
  const KeptSearchOptions search{goal.bytes, options.threads, SearchedBuffers(options.layout),
                                 goal.nodes_searched};
  const auto found = SearchKept(entry.graph, entry.schedule, target, search);
  if (!found) return;
  entry.graph = found->graph;
  const PassContext context{target, false, &found->remat, entry.request.batch, options.threads};
  RunPasses(entry.graph, context, options.passes, PassStage::kPlanned);
  entry.schedule = found->schedule;
  if (goal.is_final) UseWholeTeams(entry, target, options, goal.bytes);
  const std::vector<std::string> violations = VerifySchedule(entry.graph, entry.schedule);
  CGRUN_CHECK(violations.empty()) << "with what is not held: " << violations[0];
}

// An entry point with what was taken, and what that costs.
struct Way {
  CompiledEntry entry;
  PeakCost cost;
};

// The best of the ways, which are tried in turn. Returns nothing where none lowers anything.
std::optional<Way> BestWay(const CompiledEntry& before, const Target& target,
                           const BudgetOptions& options, const RecomputeGoal& goal) {
  std::optional<Way> best;
  for (const std::span<const Ranking> rankings : RankingsFor(before.graph, options, goal)) {
    Bytes least_of_these = std::numeric_limits<Bytes>::max();
    for (const Ranking& ranking : rankings) {
      CompiledEntry tried = before;
      const std::optional<PeakCost> cost = LowerPeak(tried, target, options, goal, ranking);
      if (!cost) continue;
      least_of_these = std::min(least_of_these, cost->first);
      if (!best || *cost < best->cost) best = Way{std::move(tried), *cost};
      // If the first ways do not fit, the others hardly do.
      if (goal.bytes > 0 && least_of_these > goal.bytes) break;
    }
  }
  if (best && goal.nodes_searched > 0 && best->cost.first <= goal.bytes) {
    SearchFurther(best->entry, target, options, goal);
    best->cost.second =
        SecondsForLess(best->entry.graph) + SecondsWaited(best->entry.graph, best->entry.schedule);
  }
  return best;
}

}  // namespace

// If the goal is missed, everything that lowers the peak was taken, whatever time it takes. The
// peak that was reached becomes the goal then, for the quickest way there. This is left out where
// an answer is waited for and it would take long, and for swaps, whose ways are many already.
std::optional<CompiledEntry> RecomputedAtPeak(const CompiledEntry& entry, const Target& target,
                                              const BudgetOptions& options,
                                              const RecomputeGoal& goal) {
  const PhaseTimer timer("recompute");
  constexpr size_t kFewNodes = 300;
  constexpr int64_t kFewNodesSearched = 1'000'000;
  std::optional<Way> best = BestWay(entry, target, options, goal);
  if (!best) return std::nullopt;
  const bool is_reached = !goal.is_final || best->cost.first <= goal.bytes;
  if (!is_reached && CountSwaps(best->entry.graph) == 0) {
    BudgetOptions in_full = options;
    in_full.swap.reset();
    RecomputeGoal as_low = goal;
    as_low.bytes = best->cost.first;
    if (options.effort == PlanEffort::kQuick) {
      in_full.effort = PlanEffort::kFull;
      as_low.nodes_searched = kFewNodesSearched;
    }
    if (options.effort != PlanEffort::kQuick || entry.graph.nodes.size() <= kFewNodes) {
      std::optional<Way> again = BestWay(entry, target, in_full, as_low);
      if (again && again->cost < best->cost) best = std::move(again);
    }
  }
  return std::move(best->entry);
}

bool RecomputeAtPeak(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                     const RecomputeGoal& goal) {
  std::optional<CompiledEntry> recomputed = RecomputedAtPeak(entry, target, options, goal);
  if (recomputed) entry = std::move(*recomputed);
  return recomputed.has_value();
}

}  // namespace cgrun
