// What any order must respect, and the table of orders.
#include "src/plan/schedule.h"

#include "src/ir/op_def.h"

namespace cgrun {

#define ORDER(name, function, doc) Schedule function(const Graph&);
#include "src/plan/orders/order_list.inc"
#undef ORDER

namespace {

constexpr OrderEntry kOrders[] = {
#define ORDER(name, function, doc) {#name, function, doc},
#include "src/plan/orders/order_list.inc"
#undef ORDER
};

// The nodes that read a value itself or through views of it.
void CollectReaders(const Graph& graph, const IdVector<ValueId, std::vector<NodeId>>& readers,
                    ValueId value, std::vector<NodeId>& out) {
  for (NodeId reader : readers[value]) {
    out.push_back(reader);
    const Node& node = graph.nodes[reader];
    if (GetOpDef(node.op).view) CollectReaders(graph, readers, node.outputs[0], out);
  }
}

}  // namespace

Dependencies DependenciesOf(const Graph& graph) {
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  Dependencies dependencies;
  dependencies.successors.resize(graph.nodes.size());
  dependencies.predecessor_count.resize(graph.nodes.size());
  const auto add = [&](NodeId before, NodeId after) {
    dependencies.successors[before].push_back(after);
    ++dependencies.predecessor_count[after];
  };
  for (ValueId value : graph.values.ids()) {
    const NodeId producer = graph.values[value].producer;
    if (!producer.valid()) continue;
    for (NodeId reader : readers[value]) add(producer, reader);
  }
  for (const UpdateEdge& edge : graph.updates) {
    const NodeId producer = graph.values[edge.next].producer;
    if (!producer.valid()) continue;
    std::vector<NodeId> of_state;
    CollectReaders(graph, readers, edge.state, of_state);
    for (NodeId reader : of_state) {
      if (reader != producer) add(reader, producer);
    }
  }
  return dependencies;
}

std::span<const OrderEntry> Orders() { return kOrders; }

const OrderEntry* FindOrder(std::string_view name) {
  for (const OrderEntry& order : kOrders) {
    if (order.name == name) return &order;
  }
  return nullptr;
}

std::vector<std::string> OrderNames() {
  std::vector<std::string> names;
  for (const OrderEntry& order : kOrders) names.emplace_back(order.name);
  return names;
}

std::vector<std::string> VerifySchedule(const Graph& graph, const Schedule& schedule) {
  std::vector<std::string> violations;
  IdVector<NodeId, int64_t> time(graph.nodes.size(), -1);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const NodeId node = schedule.steps[i].node;
    if (!graph.nodes.contains(node)) return {"step " + std::to_string(i) + " runs no node"};
    if (time[node] >= 0) violations.push_back(graph.nodes[node].name + " runs twice");
    time[node] = static_cast<int64_t>(i);
    if (schedule.steps[i].lane != 0) {
      violations.push_back(graph.nodes[node].name + " is in lane " +
                           std::to_string(schedule.steps[i].lane) +
                           ", but memory is planned for one lane");
    }
  }
  const Dependencies dependencies = DependenciesOf(graph);
  for (NodeId node : graph.nodes.ids()) {
    if (time[node] < 0) violations.push_back(graph.nodes[node].name + " never runs");
    for (NodeId after : dependencies.successors[node]) {
      if (time[after] >= 0 && time[node] >= time[after]) {
        violations.push_back(graph.nodes[after].name + " runs before " + graph.nodes[node].name);
      }
    }
  }
  return violations;
}

}  // namespace cgrun
