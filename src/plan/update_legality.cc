// LegalizeUpdates: accepts the edges one by one as long as the dependencies stay acyclic.
#include "src/plan/update_legality.h"

#include <algorithm>
#include <map>

#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/plan/schedule.h"

namespace cgrun {
namespace {

bool IsAcyclic(const Graph& graph) {
  const Dependencies dependencies = DependenciesOf(graph);
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  std::vector<NodeId> ready;
  for (NodeId node : graph.nodes.ids()) {
    if (missing[node] == 0) ready.push_back(node);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    for (NodeId next : dependencies.successors[ready[i]]) {
      if (--missing[next] == 0) ready.push_back(next);
    }
  }
  return ready.size() == graph.nodes.size();
}

// The producer of `next` reads the state in no way, or reads it where it may overwrite it.
bool ProducerMayOverwrite(const Graph& graph, const UpdateEdge& edge) {
  const NodeId producer = graph.values[edge.next].producer;
  if (!producer.valid()) return false;
  const Node& node = graph.nodes[producer];
  const int output = graph.values[edge.next].output_index;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != edge.state) continue;
    const InPlacePair pair{static_cast<int>(i), output};
    const bool allowed = node.kernel && std::count(node.kernel->in_place.begin(),
                                                   node.kernel->in_place.end(), pair) > 0;
    if (!allowed) return false;
  }
  return true;
}

// `next` is produced through a view or for another state already: it cannot lie in two places.
bool LiesElsewhere(const Graph& graph, size_t edge_index) {
  const UpdateEdge& edge = graph.updates[edge_index];
  const NodeId producer = graph.values[edge.next].producer;
  if (producer.valid() && GetOpDef(graph.nodes[producer].op).view) return true;
  for (size_t i = 0; i < edge_index; ++i) {
    if (graph.updates[i].next == edge.next) return true;
  }
  return false;
}

void AddCopy(Graph& graph, UpdateEdge& edge) {
  Builder builder(graph);
  Builder::NodeOptions options;
  options.phase = Phase::kUpdate;
  const NodeId producer = graph.values[edge.next].producer;
  if (producer.valid()) options.path = graph.nodes[producer].path;
  options.output_zone = graph.values[edge.state].zone;
  options.mark = graph.values[edge.state].mark;
  edge.next = builder.AddNode(OpId::identity, Attributes(), {edge.next},
                              graph.values[edge.state].name + ".copy", options)[0];
}

// An output that is a state which changes shows its value before the step: a copy of it.
bool CopyOutputs(Graph& graph) {
  std::map<ValueId, ValueId> copies;
  for (const UpdateEdge& edge : graph.updates) copies.emplace(edge.state, ValueId());
  Builder builder(graph);
  bool changed = false;
  for (Output& output : graph.outputs) {
    const auto it = copies.find(output.value);
    if (it == copies.end()) continue;
    if (!it->second.valid()) {
      Builder::NodeOptions options;
      options.path = output.path;
      options.mark = graph.values[output.value].mark;
      it->second = builder.AddNode(OpId::identity, Attributes(), {output.value},
                                   graph.values[output.value].name + ".before", options)[0];
    }
    output.value = it->second;
    changed = true;
  }
  return changed;
}

}  // namespace

bool LegalizeUpdates(Graph& graph) {
  bool changed = CopyOutputs(graph);
  std::vector<UpdateEdge> edges = graph.updates;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!ProducerMayOverwrite(graph, edges[i]) || LiesElsewhere(graph, i)) {
      AddCopy(graph, edges[i]);
      changed = true;
    }
  }
  graph.updates = edges;
  if (IsAcyclic(graph)) return changed;
  graph.updates.clear();
  for (UpdateEdge edge : edges) {
    graph.updates.push_back(edge);
    if (IsAcyclic(graph)) continue;
    graph.updates.pop_back();
    AddCopy(graph, edge);
    graph.updates.push_back(edge);
  }
  return true;
}

}  // namespace cgrun
