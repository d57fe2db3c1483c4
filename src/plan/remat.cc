// Recompute decisions from names.
#include "src/plan/remat.h"

#include <algorithm>

namespace cgrun {
namespace {

bool ChangesState(const Graph& graph, NodeId node) {
  return std::any_of(graph.updates.begin(), graph.updates.end(), [&](const UpdateEdge& edge) {
    return graph.values[edge.next].producer == node;
  });
}

}  // namespace

RematPlan RecomputeByName(const Graph& graph, const std::vector<std::string>& names) {
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  RematPlan plan;
  for (const std::string& name : names) {
    const ValueId value = graph.FindValue(name);
    if (!value.valid()) continue;
    const NodeId producer = graph.values[value].producer;
    if (!producer.valid() || ChangesState(graph, producer)) continue;
    RecomputeDecision decision{value, {}};
    for (NodeId reader : readers[value]) {
      const bool noted = !decision.readers.empty() && decision.readers.back() == reader;
      if (graph.nodes[reader].phase > graph.nodes[producer].phase && !noted) {
        decision.readers.push_back(reader);
      }
    }
    if (!decision.readers.empty()) plan.recompute.push_back(std::move(decision));
  }
  return plan;
}

}  // namespace cgrun
