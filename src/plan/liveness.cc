// The answers come from the alias model and from update edges.
#include "src/plan/liveness.h"

#include "src/ir/op_def.h"

namespace cgrun {

Liveness ComputeLiveness(const Graph& graph, const Schedule& schedule, bool incremental) {
  AliasModel model(graph, {.incremental = incremental});
  model.FindLifespans(RunsOf(graph, schedule));
  return {model.steps(), model.lifespans()};
}

IdVector<ValueId, TimePoint> ChangeTimes(const Graph& graph, const Schedule& schedule) {
  const auto steps = static_cast<TimePoint>(schedule.steps.size());
  IdVector<NodeId, TimePoint> time(graph.nodes.size(), steps);
  for (TimePoint i = 0; i < steps; ++i) time[schedule.steps[static_cast<size_t>(i)].node] = i;
  IdVector<ValueId, TimePoint> changed_at(graph.values.size(), steps);
  for (const UpdateEdge& edge : graph.updates) {
    const NodeId producer = graph.values[edge.next].producer;
    if (producer.valid()) changed_at[edge.state] = time[producer];
  }
  return changed_at;
}

ValueId ViewedValue(const Graph& graph, ValueId value) {
  for (NodeId id = graph.values[value].producer; id.valid() && GetOpDef(graph.nodes[id].op).view;) {
    value = graph.nodes[id].inputs[0];
    id = graph.values[value].producer;
  }
  return value;
}

}  // namespace cgrun
