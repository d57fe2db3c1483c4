// Planner `greedy` tries the orders of the table on each time-disconnected part of the problem. It
// takes the best plan, or the first of equally good ones.
//
// Planner `portfolio` lowers the plan of `greedy` as `search` does. It spends a few nodes first. If
// the bound is not met, it spends as many nodes as the bytes above the bound are worth: a long
// search for the last few bytes would keep a person waiting. If more than a hundredth of the bound
// is then left, it spends several times as many.
#include "src/packing/planners/portfolio.h"

#include <algorithm>
#include <utility>

#include "src/packing/planners/greedy.h"
#include "src/packing/planners/parts.h"
#include "src/packing/planners/search.h"

namespace cgrun {
namespace {

constexpr int64_t kFinePart = 100;  // of the bound: a gap that no more is done about
constexpr int64_t kMoreNodes = 2'000'000;
constexpr int64_t kMostNodes = 3'000'000;
constexpr int64_t kFewNodes = 20'000;   // that take no time to speak of
constexpr int64_t kNodesForAByte = 10;  // of the gap

Bytes BoundOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  return std::max(plan.lower_bound_bytes, LowerBound(problem));
}

// Returns how many nodes the bytes above the bound are worth.
int64_t NodesFor(const MemoryProblem& problem, const MemoryPlan& plan) {
  return std::min((plan.peak_bytes - BoundOf(problem, plan)) * kNodesForAByte, kMoreNodes);
}

}  // namespace

MemoryPlan BestOrder(const MemoryProblem& problem, Bytes target, Effort& effort) {
  const TimeSections sections(problem);
  MemoryPlan best;
  best.peak_bytes = kNoLimit;
  int64_t nodes = 0;
  for (const PlannerEntry& entry : Planners()) {
    if (entry.role != PlannerRole::kOrder) continue;
    MemoryPlan plan = PlaceBelow(entry, problem, sections, best.peak_bytes);
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
    return BestOrder(part, target, effort);
  });
}

MemoryPlan PlanPortfolio(const MemoryProblem& problem) {
  MemoryPlan plan = PlanGreedy(problem);
  Effort few(kFewNodes);
  Improve(problem, plan, few);
  Effort more(NodesFor(problem, plan));
  if (more.left() > kFewNodes) Improve(problem, plan, more);
  Effort most(kMostNodes);
  if (plan.peak_bytes - BoundOf(problem, plan) > BoundOf(problem, plan) / kFinePart) {
    Improve(problem, plan, most);
  }
  return plan;
}

}  // namespace cgrun
