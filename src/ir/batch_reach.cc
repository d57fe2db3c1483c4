// A search walks from a value to its sources.
#include "src/ir/batch_reach.h"

#include <vector>

namespace cgrun {

bool DependsOnBatch(const Graph& graph, ValueId value) {
  IdVector<ValueId, bool> seen(graph.values.size(), false);
  std::vector<ValueId> rest = {value};
  while (!rest.empty()) {
    const ValueId id = rest.back();
    rest.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    if (!graph.values[id].type.shape.IsBound()) return true;
    const NodeId producer = graph.values[id].producer;
    if (!producer.valid()) continue;
    const std::vector<ValueId>& inputs = graph.nodes[producer].inputs;
    rest.insert(rest.end(), inputs.begin(), inputs.end());
  }
  return false;
}

}  // namespace cgrun
