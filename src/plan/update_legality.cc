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

// The values on the way from a state to its next one that operators make of each other in place, as
// where a path that learns is repeated, or weights are clipped after a step.
class ChainFinder {
 public:
  explicit ChainFinder(const Graph& graph) : graph_(graph), taken_(graph.values.size()) {
    for (const Output& output : graph.outputs) taken_[output.value] = true;
    for (const UpdateEdge& edge : graph.updates) taken_[edge.next] = taken_[edge.state] = true;
  }

  // The edge as a chain of edges: each value updates the one before it. The edge alone where
  // there is nothing in between. A value is in one chain at most.
  std::vector<UpdateEdge> ChainOf(const UpdateEdge& edge) {
    seen_ = IdVector<ValueId, bool>(graph_.values.size());
    state_ = edge.state;
    std::vector<UpdateEdge> chain;
    if (!Reach(edge.next, chain)) return {edge};
    for (const UpdateEdge& link : chain) taken_[link.next] = true;
    return chain;
  }

 private:
  // Goes back from `value`; the chain up to it where that ends at the state.
  bool Reach(ValueId value, std::vector<UpdateEdge>& chain) {
    const NodeId producer = graph_.values[value].producer;
    if (!producer.valid() || !graph_.nodes[producer].kernel) return false;
    const Node& node = graph_.nodes[producer];
    for (const InPlacePair& pair : node.kernel->in_place) {
      if (pair.output != graph_.values[value].output_index) continue;
      if (static_cast<size_t>(pair.input) >= node.inputs.size()) continue;
      const ValueId input = node.inputs[static_cast<size_t>(pair.input)];
      const UpdateEdge link{input, value};
      if (!ProducerMayOverwrite(graph_, link)) continue;  // it reads the input elsewhere, too
      if (input != state_ && (!MayLieInState(input) || !Reach(input, chain))) continue;
      chain.push_back(link);
      return true;
    }
    return false;
  }

  bool MayLieInState(ValueId value) {
    if (taken_[value] || seen_[value]) return false;
    seen_[value] = true;
    const NodeId producer = graph_.values[value].producer;
    return graph_.values[value].type == graph_.values[state_].type && producer.valid() &&
           !GetOpDef(graph_.nodes[producer].op).view;
  }

  const Graph& graph_;
  ValueId state_;
  IdVector<ValueId, bool> taken_;  // it lies somewhere, or is read after the step
  IdVector<ValueId, bool> seen_;   // in the current search
};

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

void Append(const std::vector<UpdateEdge>& more, std::vector<UpdateEdge>& edges) {
  edges.insert(edges.end(), more.begin(), more.end());
}

// Adds edges unless they make the dependencies cyclic.
bool TryToAdd(const std::vector<UpdateEdge>& edges, Graph& graph) {
  const size_t count = graph.updates.size();
  Append(edges, graph.updates);
  if (IsAcyclic(graph)) return true;
  graph.updates.resize(count);
  return false;
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
  ChainFinder finder(graph);
  std::vector<std::vector<UpdateEdge>> chains;
  for (const UpdateEdge& edge : edges) chains.push_back(finder.ChainOf(edge));
  graph.updates.clear();
  for (const std::vector<UpdateEdge>& chain : chains) Append(chain, graph.updates);
  if (IsAcyclic(graph)) return changed;

  graph.updates.clear();
  for (size_t i = 0; i < edges.size(); ++i) {
    if (TryToAdd(chains[i], graph) || TryToAdd({edges[i]}, graph)) continue;
    AddCopy(graph, edges[i]);
    graph.updates.push_back(edges[i]);
    changed = true;
  }
  return changed;
}

}  // namespace cgrun
