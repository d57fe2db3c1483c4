// Each name gets one decision.
#include "src/plan/recompute_by_name.h"

#include <utility>

#include "src/ops/recompute_node.h"

namespace cgrun {

RematPlan RecomputeByName(const Graph& graph, const std::vector<std::string>& names) {
  RematPlan plan;
  if (names.empty()) return plan;
  const ReaderLists readers = Readers(graph);
  const IdVector<NodeId, bool> may_recompute = RecomputableNodes(graph);
  for (const std::string& name : names) {
    const ValueId value = graph.FindValue(name);
    if (!value.valid()) continue;
    const NodeId producer = graph.values[value].producer;
    if (!producer.valid() || !may_recompute[producer]) continue;
    const bool is_first = graph.values[value].output_index == 0;
    if (!is_first && RecomputeNodeOf(graph.nodes[producer]).op != graph.nodes[producer].op)
      continue;
    RecomputeDecision decision{{producer}, {}};
    for (NodeId reader : readers[value]) {
      if (graph.nodes[reader].phase > graph.nodes[producer].phase) {
        decision.readers.push_back(reader);
      }
    }
    if (!decision.readers.empty()) plan.recompute.push_back(std::move(decision));
  }
  return plan;
}

}  // namespace cgrun
