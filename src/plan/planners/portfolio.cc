// Planner `greedy`: the best order of the table, on each time-disconnected part of the problem.
// Planner `portfolio`: what `search` finds; where that does not meet the bound, every order of the
// table and local search, too, on each time-disconnected part of the problem, until one reaches
// what no plan of the whole can beat. The first of equally good ones is taken. Where more than a
// hundredth is left above the bound, `search` gets several times the nodes. No more is spent on a
// byte than it is worth: a search for the last few would keep a person waiting.
#include "src/plan/planners/portfolio.h"

#include <algorithm>
#include <utility>

#include "src/plan/planners/parts.h"
#include "src/plan/planners/search.h"

namespace cgrun {
namespace {

constexpr int64_t kFinePart = 100;  // of the bound: a gap that no more is done about
constexpr int64_t kMoreNodes = 3'000'000;
constexpr int64_t kFewNodes = 20'000;   // that take no time to speak of
constexpr int64_t kNodesForAByte = 10;  // of the gap

Bytes BoundOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  return std::max(plan.lower_bound_bytes, LowerBound(problem));
}

// That are worth being spent on what is left above the bound.
int64_t NodesFor(const MemoryProblem& problem, const MemoryPlan& plan) {
  return std::min((plan.peak_bytes - BoundOf(problem, plan)) * kNodesForAByte, kMoreNodes);
}

}  // namespace

MemoryPlan BestOfTable(const MemoryProblem& problem, Bytes target, PlannerRole last,
                       Effort& effort) {
  MemoryPlan best;
  int64_t nodes = 0;
  for (const PlannerEntry& entry : Planners()) {
    if (entry.role > last) continue;
    MemoryPlan plan = entry.function(problem);
    nodes += plan.nodes;
    if (best.offsets.empty() || plan.peak_bytes < best.peak_bytes) best = std::move(plan);
    if (best.peak_bytes <= target || effort.IsLate()) break;
  }
  best.nodes = nodes;
  return best;
}

MemoryPlan PlanGreedy(const MemoryProblem& problem) {
  return PlanByParts(problem, [](const MemoryProblem& part, Bytes target) {
    Effort effort(kSearchNodes);
    return BestOfTable(part, target, PlannerRole::kOrder, effort);
  });
}

MemoryPlan PlanPortfolio(const MemoryProblem& problem) {
  Effort effort(kFewNodes);
  MemoryPlan searched = PlanWithin(problem, effort);
  if (const int64_t nodes = NodesFor(problem, searched); nodes > kFewNodes) {
    effort = Effort(std::min(nodes, kSearchNodes));
    searched = PlanWithin(problem, effort);
  }
  if (searched.peak_bytes <= BoundOf(problem, searched)) return searched;
  MemoryPlan plan = PlanByParts(problem, [&effort](const MemoryProblem& part, Bytes target) {
    return BestOfTable(part, target, PlannerRole::kLocalSearch, effort);
  });
  int64_t nodes = searched.nodes + plan.nodes;
  plan.lower_bound_bytes = searched.lower_bound_bytes;
  if (searched.peak_bytes <= plan.peak_bytes) plan = std::move(searched);
  if (plan.peak_bytes > plan.lower_bound_bytes + plan.lower_bound_bytes / kFinePart) {
    Effort more(NodesFor(problem, plan));
    searched = PlanWithin(problem, more);
    nodes += searched.nodes;
    searched.lower_bound_bytes = std::max(searched.lower_bound_bytes, plan.lower_bound_bytes);
    if (searched.peak_bytes < plan.peak_bytes) plan = std::move(searched);
  }
  plan.nodes = nodes;
  return plan;
}

}  // namespace cgrun
