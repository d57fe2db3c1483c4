// Parts are problems of their own; their offsets go back to where they came from.
#include "src/plan/planners/parts.h"

#include <algorithm>

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

}  // namespace

MemoryPlan PlanByParts(const MemoryProblem& problem, PartPlanner planner) {
  MemoryPlan plan;
  for (const Buffer& buffer : problem.buffers) plan.offsets.push_back(buffer.offset.value_or(0));
  Bytes target = LowerBound(problem);
  for (const std::vector<BufferId>& ids : SplitByTime(problem)) {
    const MemoryPlan part = planner(Part(problem, ids), target);
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
