// Planner `portfolio`: every order of the table on each time-disconnected part of the problem,
// until one reaches what no plan of the whole can beat. The first of equally good ones is taken.
#include <utility>

#include "src/plan/planner.h"
#include "src/plan/planners/parts.h"

namespace cgrun {
namespace {

// The best plan of any order, `nodes` counting all that were tried. No order is tried once the peak
// is at most `target`.
MemoryPlan BestOrder(const MemoryProblem& problem, Bytes target) {
  MemoryPlan best;
  int64_t nodes = 0;
  for (const PlannerEntry& entry : Planners()) {
    if (!entry.in_portfolio) continue;
    MemoryPlan plan = entry.function(problem);
    nodes += plan.nodes;
    if (best.offsets.empty() || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
    if (best.peak_bytes <= target) break;
  }
  best.nodes = nodes;
  return best;
}

}  // namespace

MemoryPlan PlanPortfolio(const MemoryProblem& problem) { return PlanByParts(problem, BestOrder); }

}  // namespace cgrun
