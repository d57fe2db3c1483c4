// Order `serial`.
#include "src/plan/orders/list_schedule.h"

namespace cgrun {

// Path by path, as a person writes a training loop: the forward part of a path, its backward part
// and its updates before the next path, each in the order in which its nodes were built.
Schedule OrderSerial(const Graph& graph, const Dependencies& dependencies) {
  return ListSchedule(dependencies, [&](NodeId node, int64_t) {
    return std::make_pair(graph.nodes[node].path, node);
  });
}

}  // namespace cgrun
