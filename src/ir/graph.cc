// Graph queries and edits that every phase needs.
#include "src/ir/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <span>

#include "src/base/check.h"

namespace cgrun {

std::string_view Name(EntryKind kind) {
  switch (kind) {
    case EntryKind::kTrain:
      return "train";
    case EntryKind::kEval:
      return "eval";
    case EntryKind::kAccumulate:
      return "accumulate";
    case EntryKind::kPredict:
      return "predict";
  }
  return "?";
}

std::string_view Name(Role role) {
  switch (role) {
    case Role::kPlaceholder:
      return "placeholder";
    case Role::kParameter:
      return "parameter";
    case Role::kMasterWeight:
      return "master weight";
    case Role::kOptimizerState:
      return "optimizer state";
    case Role::kRunningStatistic:
      return "running statistic";
    case Role::kConstant:
      return "constant";
    case Role::kIntermediate:
      return "intermediate";
    case Role::kGradient:
      return "gradient";
    case Role::kRecurrentState:
      return "recurrent state";
  }
  return "?";
}

std::string_view Name(Zone zone) {
  switch (zone) {
    case Zone::kForward:
      return "forward";
    case Zone::kGradient:
      return "gradient";
    case Zone::kOptimizer:
      return "optimizer";
    case Zone::kWorkspace:
      return "workspace";
  }
  return "?";
}

std::string_view Name(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kUpdate:
      return "update";
    case Phase::kCommunication:
      return "communication";
  }
  return "?";
}

bool IsState(Role role) {
  return role == Role::kParameter || role == Role::kMasterWeight || role == Role::kOptimizerState ||
         role == Role::kRunningStatistic || role == Role::kRecurrentState;
}

bool Graph::Learns() const {
  return std::any_of(updates.begin(), updates.end(), [this](const UpdateEdge& edge) {
    const Role role = values[edge.state].role;
    return IsState(role) && role != Role::kRecurrentState;
  });
}

ValueId Graph::FindValue(std::string_view value_name) const {
  for (ValueId id : values.ids()) {
    if (values[id].name == value_name) return id;
  }
  return ValueId();
}

ReaderLists Readers(const Graph& graph) {
  ReaderLists readers(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (ValueId input : node.inputs) readers.Count(input);
  }
  readers.Allot();
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId input : graph.nodes[id].inputs) {
      const std::span<const NodeId> so_far = readers[input];
      if (so_far.empty() || so_far.back() != id) readers.Add(input, id);
    }
  }
  return readers;
}

bool IsInOrder(const Graph& graph) {
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId input : graph.nodes[id].inputs) {
      if (graph.values[input].producer >= id) return false;
    }
  }
  return true;
}

std::vector<NodeId> TopologicalOrder(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.nodes.size());
  if (IsInOrder(graph)) {
    for (NodeId id : graph.nodes.ids()) order.push_back(id);
    return order;
  }
  const ReaderLists readers = Readers(graph);
  IdVector<NodeId, int> missing(graph.nodes.size());
  for (ValueId value : graph.values.ids()) {
    if (!graph.values[value].producer.valid()) continue;
    for (NodeId reader : readers[value]) ++missing[reader];
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id : graph.nodes.ids()) {
    if (missing[id] == 0) ready.push(id);
  }
  while (!ready.empty()) {
    const NodeId node = ready.top();
    ready.pop();
    order.push_back(node);
    for (ValueId output : graph.nodes[node].outputs) {
      for (NodeId reader : readers[output]) {
        if (--missing[reader] == 0) ready.push(reader);
      }
    }
  }
  CGRUN_CHECK(order.size() == graph.nodes.size()) << "the graph has a cycle";
  return order;
}

namespace {

// Old id → new id for what is kept; invalid for the rest.
template <class IdType>
IdVector<IdType, IdType> Renumber(const IdVector<IdType, bool>& keep) {
  IdVector<IdType, IdType> renumbered(keep.size());
  int64_t next = 0;
  for (IdType id : keep.ids()) {
    if (keep[id]) renumbered[id] = IdType(next++);
  }
  return renumbered;
}

void Replace(std::vector<ValueId>& ids, const IdVector<ValueId, ValueId>& renumbered) {
  for (ValueId& id : ids) id = renumbered[id];
}

template <class T>
void RenumberKeys(std::map<ValueId, T>& items, const IdVector<ValueId, ValueId>& renumbered) {
  std::map<ValueId, T> kept;
  for (auto it = items.begin(); it != items.end();) {
    auto item = items.extract(it++);
    if (!renumbered[item.key()].valid()) continue;
    item.key() = renumbered[item.key()];
    kept.insert(kept.end(), std::move(item));  // the order stays
  }
  items = std::move(kept);
}

void RenumberPaths(Graph& graph, const IdVector<ValueId, ValueId>& renumbered) {
  for (Path& path : graph.paths) {
    if (path.loss.valid()) path.loss = renumbered[path.loss];
    if (path.learning_rate.valid()) path.learning_rate = renumbered[path.learning_rate];
    std::vector<ValueId> trains;
    for (ValueId id : path.trains) {
      if (renumbered[id].valid()) trains.push_back(renumbered[id]);
    }
    path.trains = std::move(trains);
  }
}

}  // namespace

IdVector<NodeId, NodeId> Compact(Graph& graph, const IdVector<NodeId, bool>& keep_node,
                                 const IdVector<ValueId, bool>& keep_value) {
  const IdVector<NodeId, NodeId> new_node = Renumber(keep_node);
  const IdVector<ValueId, ValueId> new_value = Renumber(keep_value);
  IdVector<NodeId, Node> nodes;
  nodes.reserve(graph.nodes.size());
  for (NodeId id : graph.nodes.ids()) {
    if (!keep_node[id]) continue;
    Node node = std::move(graph.nodes[id]);
    Replace(node.inputs, new_value);
    Replace(node.outputs, new_value);
    if (node.recomputes.valid()) node.recomputes = new_node[node.recomputes];
    nodes.push_back(std::move(node));
  }
  IdVector<ValueId, Value> values;
  values.reserve(graph.values.size());
  for (ValueId id : graph.values.ids()) {
    if (!keep_value[id]) continue;
    Value value = std::move(graph.values[id]);
    if (value.producer.valid()) value.producer = new_node[value.producer];
    values.push_back(std::move(value));
  }
  graph.nodes = std::move(nodes);
  graph.values = std::move(values);
  for (UpdateEdge& edge : graph.updates) {
    edge = {new_value[edge.state], new_value[edge.next]};
  }
  for (Output& output : graph.outputs) output.value = new_value[output.value];
  RenumberKeys(graph.constants, new_value);
  RenumberKeys(graph.parameters, new_value);
  RenumberPaths(graph, new_value);
  return new_node;
}

Graph BindBatch(const Graph& graph, int64_t batch) {
  CGRUN_CHECK(batch > 0) << "batch size " << batch;
  Graph bound = graph;
  for (Value& value : bound.values) value.type.shape = value.type.shape.Bind(batch);
  for (Node& node : bound.nodes) {
    node.attributes = node.attributes.Bind(batch);
    for (FusedOperator& inner : node.body) inner.attributes = inner.attributes.Bind(batch);
  }
  return bound;
}

}  // namespace cgrun
