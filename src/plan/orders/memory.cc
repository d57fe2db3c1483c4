// Order `memory`: the best of the others, early updates, local improvement.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/plan/buffer_assignment.h"
#include "src/plan/orders/improve.h"
#include "src/plan/orders/list_schedule.h"
#include "src/plan/orders/step_memory.h"

namespace cgrun {
namespace {

// Bytes below which no plan of this order can stay.
int64_t BoundOf(const Graph& graph, const Schedule& schedule) {
  const BufferAssignment assignment = AssignBuffers(graph, schedule);
  MemoryProblem problem;
  problem.buffers.reserve(assignment.buffers.size());
  for (const SharedBuffer& buffer : assignment.buffers) {
    if (buffer.persistent) continue;
    Buffer item;
    item.bytes = buffer.bytes;
    item.lower = buffer.lifespan.lower;
    item.upper = buffer.lifespan.upper;
    problem.buffers.push_back(std::move(item));
  }
  return LowerBound(problem);
}

// The same order, but that an update runs as soon as it can: no gradient is kept for later.
Schedule WithEarlyUpdates(const Graph& graph, const Dependencies& dependencies,
                          const Schedule& schedule) {
  IdVector<NodeId, size_t> place(graph.nodes.size());
  for (size_t i = 0; i < schedule.steps.size(); ++i) place[schedule.steps[i].node] = i;
  return ListSchedule(dependencies, [&](NodeId node, int64_t) {
    return std::make_pair(graph.nodes[node].phase != Phase::kUpdate, place[node]);
  });
}

}  // namespace

// If several schedules need as few bytes, the first in the table wins, with early updates.
Schedule OrderMemory(const Graph& graph, const Dependencies& dependencies) {
  Schedule best;
  int64_t best_bytes = -1;
  const auto consider = [&](Schedule candidate) {
    const int64_t bytes = BoundOf(graph, candidate);
    if (best_bytes >= 0 && bytes >= best_bytes) return;
    best = std::move(candidate);
    best_bytes = bytes;
  };
  for (const OrderEntry& order : Orders()) {
    if (order.function == OrderMemory) continue;
    Schedule schedule = order.function(graph, dependencies);
    consider(WithEarlyUpdates(graph, dependencies, schedule));
    consider(std::move(schedule));
  }
  consider(ImproveAtPeak(graph, dependencies, best));
  return best;
}

}  // namespace cgrun
