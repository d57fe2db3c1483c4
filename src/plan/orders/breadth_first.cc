// Order `bfs`.
#include "src/plan/orders/list_schedule.h"

namespace cgrun {

// The node that is ready first runs first.
Schedule OrderBreadthFirst(const Graph&, const Dependencies& dependencies) {
  return ListSchedule(dependencies, [](NodeId, int64_t sequence) { return sequence; });
}

}  // namespace cgrun
