// Planner `portfolio`: every order of the table, and local search, on each time-disconnected part
// of the problem, until one reaches what no plan of the whole can beat. The first of equally good
// ones is taken.
#include "src/plan/planners/portfolio.h"

#include <utility>

#include "src/plan/planners/parts.h"

namespace cgrun {
namespace {

MemoryPlan BestOfAll(const MemoryProblem& part, Bytes target) {
  return BestOfTable(part, target, PlannerRole::kLocalSearch);
}

}  // namespace

MemoryPlan BestOfTable(const MemoryProblem& problem, Bytes target, PlannerRole last) {
  MemoryPlan best;
  int64_t nodes = 0;
  for (const PlannerEntry& entry : Planners()) {
    if (entry.role > last) continue;
    MemoryPlan plan = entry.function(problem);
    nodes += plan.nodes;
    if (best.offsets.empty() || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
    if (best.peak_bytes <= target) break;
  }
  best.nodes = nodes;
  return best;
}

MemoryPlan PlanPortfolio(const MemoryProblem& problem) { return PlanByParts(problem, BestOfAll); }

}  // namespace cgrun
