// Order `dfs`.
#include <algorithm>
#include <tuple>

#include "src/base/check.h"
#include "src/plan/schedule.h"

namespace cgrun {

// Last ready, first run; of nodes that became ready together, the one with the smaller outputs, so
// that a branch is finished before the next is begun.
Schedule OrderDepthFirst(const Graph& graph, const Dependencies& dependencies) {
  IdVector<NodeId, int64_t> bytes(graph.nodes.size());
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId output : graph.nodes[id].outputs) bytes[id] += graph.BytesOf(output);
  }
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  std::vector<NodeId> stack;
  const auto push_sorted = [&](std::vector<NodeId>& nodes) {
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return std::make_tuple(bytes[a], a) > std::make_tuple(bytes[b], b);  // the top comes last
    });
    stack.insert(stack.end(), nodes.begin(), nodes.end());
  };
  std::vector<NodeId> roots;
  for (NodeId node : graph.nodes.ids()) {
    if (missing[node] == 0) roots.push_back(node);
  }
  push_sorted(roots);
  Schedule schedule;
  schedule.steps.reserve(missing.size());
  std::vector<NodeId> ready;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    schedule.steps.push_back({node, 0});
    ready.clear();
    for (NodeId successor : dependencies.successors[node]) {
      if (--missing[successor] == 0) ready.push_back(successor);
    }
    push_sorted(ready);
  }
  CGRUN_CHECK(schedule.steps.size() == graph.nodes.size()) << "the dependencies have a cycle";
  return schedule;
}

}  // namespace cgrun
