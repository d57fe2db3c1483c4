// LegalizeUpdates: accepts the edges one by one as long as the dependencies
// stay acyclic.
#include "src/plan/update_legality.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

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

// The producer of `next` reads the state in no way, or reads it where it may
// overwrite it.
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

// `next` is produced through a view.
bool IsViewed(const Graph& graph, const UpdateEdge& edge) {
  const NodeId producer = graph.values[edge.next].producer;
  return producer.valid() && GetOpDef(graph.nodes[producer].op).view;
}

// The values on the way from a state to its next one that operators make of
// each other in place, as where a path that learns is repeated, or weights are
// clipped after a step.
class ChainFinder {
 public:
  explicit ChainFinder(const Graph& graph)
      : graph_(graph), taken_(graph.values.size()), is_seen_(graph.values.size()) {
    for (const Output& output : graph.outputs) taken_[output.value] = true;
    for (const UpdateEdge& edge : graph.updates) taken_[edge.next] = taken_[edge.state] = true;
  }

  // The edge as a chain of edges: each value updates the one before it. The
  // edge alone where there is nothing in between. A value is in one chain at
  // most.
  std::vector<UpdateEdge> ChainOf(const UpdateEdge& edge) {
    for (ValueId value : seen_) is_seen_[value] = false;
    seen_.clear();
    state_ = edge.state;
    std::vector<UpdateEdge> chain = Search(edge.next);
    if (chain.empty()) return {edge};
    for (const UpdateEdge& link : chain) taken_[link.next] = true;
    return chain;
  }

 private:
  // A value on the way back, and the first of its producer's pairs that was not
  // followed yet.
  struct Place {
    ValueId value;
    size_t pair = 0;
  };

  // Goes back from `last`, depth first; the way from the state to it, or
  // nothing.
  std::vector<UpdateEdge> Search(ValueId last) {
    std::vector<Place> way = {{last}};
    while (!way.empty()) {
      const std::optional<ValueId> input = NextInput(way.back());
      if (!input) {
        way.pop_back();
      } else if (*input == state_) {
        return ChainOf(way);
      } else if (MayLieInState(*input)) {
        way.push_back({*input});
      }
    }
    return {};
  }

  std::vector<UpdateEdge> ChainOf(const std::vector<Place>& way) const {
    std::vector<UpdateEdge> chain;
    ValueId before = state_;
    for (size_t i = way.size(); i-- > 0; before = way[i].value) {
      chain.push_back({before, way[i].value});
    }
    return chain;
  }

  // Returns the next input that the producer of the value at `place` can overwrite in place.
  std::optional<ValueId> NextInput(Place& place) const {
    const Value& value = graph_.values[place.value];
    if (!value.producer.valid() || !graph_.nodes[value.producer].kernel) return std::nullopt;
    const Node& node = graph_.nodes[value.producer];
    while (place.pair < node.kernel->in_place.size()) {
      const InPlacePair& pair = node.kernel->in_place[place.pair++];
      if (pair.output != value.output_index) continue;
      if (static_cast<size_t>(pair.input) >= node.inputs.size()) continue;
      const ValueId input = node.inputs[static_cast<size_t>(pair.input)];
      // Else it reads the input elsewhere, too.
      if (ProducerMayOverwrite(graph_, {input, place.value})) return input;
    }
    return std::nullopt;
  }

  bool MayLieInState(ValueId value) {
    if (taken_[value] || is_seen_[value]) return false;
    is_seen_[value] = true;
    seen_.push_back(value);
    const NodeId producer = graph_.values[value].producer;
    return graph_.values[value].type == graph_.values[state_].type && producer.valid() &&
           !GetOpDef(graph_.nodes[producer].op).view;
  }

  const Graph& graph_;
  ValueId state_;
  IdVector<ValueId, bool> taken_;    // it lies somewhere, or is read after the step
  IdVector<ValueId, bool> is_seen_;  // in the current search …
  std::vector<ValueId> seen_;        // … and which those are
};

void AddCopy(Builder& builder, UpdateEdge& edge) {
  const Graph& graph = builder.graph();
  Builder::NodeOptions options;
  options.phase = Phase::kUpdate;
  const NodeId producer = graph.values[edge.next].producer;
  if (producer.valid()) options.path = graph.nodes[producer].path;
  options.output_zone = graph.values[edge.state].zone;
  options.mark = graph.values[edge.state].mark;
  edge.next = builder.AddNode(OpId::identity, Attributes(), {edge.next},
                              graph.values[edge.state].name + ".copy", options)[0];
}

// An output that is a state which changes shows its value before the step: a
// copy of it.
bool CopyOutputs(Builder& builder) {
  Graph& graph = builder.graph();
  std::map<ValueId, ValueId> copies;
  for (const UpdateEdge& edge : graph.updates) copies.emplace(edge.state, ValueId());
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

using Chains = std::vector<std::vector<UpdateEdge>>;

// Adds the edges of a state's chain where that makes no cycle of the
// dependencies; else the plain edge; else that to a copy, which makes none. The
// states are those of `edges`.
class EdgeAdder {
 public:
  EdgeAdder(Builder& builder, Chains chains, std::vector<UpdateEdge> edges)
      : builder_(builder), chains_(std::move(chains)), edges_(std::move(edges)) {}

  // Returns whether any was copied.
  bool Run() {
    AddRange(0, edges_.size());
    return has_copied_;
  }

 private:
  Graph& graph() { return builder_.graph(); }

  // The chains of a range together: where these make no cycle, none of them
  // does, one by one. So there are few tests where few chains make one.
  void AddRange(size_t begin, size_t end) {
    if (begin == end || TryToAdd(begin, end)) return;
    if (end - begin == 1) return AddWithoutChain(begin);
    const size_t middle = begin + (end - begin) / 2;
    AddRange(begin, middle);
    AddRange(middle, end);
  }

  bool TryToAdd(size_t begin, size_t end) {
    const size_t count = graph().updates.size();
    for (size_t i = begin; i < end; ++i) Append(chains_[i]);
    return KeepIfAcyclic(count);
  }

  void AddWithoutChain(size_t i) {
    const size_t count = graph().updates.size();
    graph().updates.push_back(edges_[i]);
    if (KeepIfAcyclic(count)) return;
    AddCopy(builder_, edges_[i]);
    graph().updates.push_back(edges_[i]);
    has_copied_ = true;
  }

  void Append(const std::vector<UpdateEdge>& more) {
    graph().updates.insert(graph().updates.end(), more.begin(), more.end());
  }

  // Takes back what came behind the first `count` edges where it makes a cycle.
  bool KeepIfAcyclic(size_t count) {
    if (IsAcyclic(graph())) return true;
    graph().updates.resize(count);
    return false;
  }

  Builder& builder_;
  Chains chains_;
  std::vector<UpdateEdge> edges_;
  bool has_copied_ = false;
};

}  // namespace

bool LegalizeUpdates(Graph& graph) {
  Builder builder(graph);
  bool changed = CopyOutputs(builder);
  std::vector<UpdateEdge> edges = graph.updates;
  IdVector<ValueId, bool> is_next(graph.values.size());  // it cannot lie in two places
  for (UpdateEdge& edge : edges) {
    const bool lies_elsewhere = is_next[edge.next] || IsViewed(graph, edge);
    is_next[edge.next] = true;
    if (!lies_elsewhere && ProducerMayOverwrite(graph, edge)) continue;
    AddCopy(builder, edge);
    changed = true;
  }
  graph.updates = edges;
  ChainFinder finder(graph);
  Chains chains;
  for (const UpdateEdge& edge : edges) chains.push_back(finder.ChainOf(edge));
  graph.updates.clear();
  return EdgeAdder(builder, std::move(chains), std::move(edges)).Run() || changed;
}

}  // namespace cgrun
