// Planner `portfolio`: every order of the table on each time-disconnected part of the problem,
// until one reaches what no plan of the whole can beat. The first of equally good ones is taken.
#include <algorithm>

#include "src/plan/memory_problem.h"
#include "src/plan/planner.h"

namespace cgrun {
namespace {

MemoryProblem Part(const MemoryProblem& problem, const std::vector<BufferId>& ids) {
  MemoryProblem part;
  part.buffers.reserve(ids.size());
  for (BufferId id : ids) {
    Buffer& buffer = part.buffers.emplace_back(problem[id]);
    buffer.name.clear();
  }
  return part;
}

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

MemoryPlan PlanPortfolio(const MemoryProblem& problem) {
  MemoryPlan plan;
  for (const Buffer& buffer : problem.buffers) plan.offsets.push_back(buffer.offset.value_or(0));
  // A part need not go below the bound of the whole, nor below what an earlier part needs.
  Bytes target = LowerBound(problem);
  for (const std::vector<BufferId>& ids : SplitByTime(problem)) {
    const MemoryPlan part = BestOrder(Part(problem, ids), target);
    for (size_t i = 0; i < ids.size(); ++i) {
      plan.offsets[static_cast<size_t>(ids[i].index)] = part.offsets[i];
    }
    target = std::max(target, part.peak_bytes);
    plan.nodes += part.nodes;
  }
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  return plan;
}

}  // namespace cgrun
