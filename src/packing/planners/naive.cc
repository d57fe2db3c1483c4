// Planner `naive`: no reuse. It shows what planning is worth, and it is the simplest right answer.
#include <algorithm>

#include "src/packing/memory_problem.h"

namespace cgrun {

// Fixed buffers where they must be, all others one after another above them, in the order of ids.
MemoryPlan PlanNaive(const MemoryProblem& problem) {
  MemoryPlan plan;
  Bytes end = 0;
  for (const Buffer& buffer : problem.buffers) {
    plan.offsets.push_back(buffer.offset.value_or(0));
    if (buffer.offset && buffer.bytes > 0) end = std::max(end, *buffer.offset + buffer.bytes);
  }
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.offset || buffer.bytes == 0) continue;
    plan.offsets[i] = RoundUp(end, buffer.alignment);
    end = plan.offsets[i] + buffer.bytes;
  }
  plan.peak_bytes = PeakBytes(problem, plan.offsets);
  plan.nodes = static_cast<int64_t>(problem.buffers.size());
  return plan;
}

}  // namespace cgrun
