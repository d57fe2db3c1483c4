// Finds what any order must respect, and holds the table of orders.
#include "src/plan/schedule.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/ir/op_def.h"

namespace cgrun {

#define ORDER(name, function, doc) Schedule function(const Graph&, const Dependencies&);
#include "src/plan/orders/order_list.inc"
#undef ORDER

namespace {

constexpr OrderEntry kOrders[] = {
#define ORDER(name, function, doc) {#name, function, doc},
#include "src/plan/orders/order_list.inc"
#undef ORDER
};

// A node that comes before another one.
using Edge = std::pair<NodeId, NodeId>;

// Adds an edge to `producer` from each other node that reads a value itself or through views of it,
// a view right before its readers.
void AddReadersThroughViews(const Graph& graph, const ReaderLists& readers, ValueId value,
                            NodeId producer, std::vector<Edge>& edges) {
  std::vector<NodeId> waiting;  // the next is last
  const auto add = [&](std::span<const NodeId> more) {
    waiting.insert(waiting.end(), more.rbegin(), more.rend());
  };
  add(readers[value]);
  while (!waiting.empty()) {
    const NodeId reader = waiting.back();
    waiting.pop_back();
    if (reader != producer) edges.emplace_back(reader, producer);
    const Node& node = graph.nodes[reader];
    if (GetOpDef(node.op).view) add(readers[node.outputs[0]]);
  }
}

// From the other readers of each state to what updates it.
std::vector<Edge> UpdateEdges(const Graph& graph, const ReaderLists& readers) {
  std::vector<Edge> edges;
  for (const UpdateEdge& edge : graph.updates) {
    const NodeId producer = graph.values[edge.next].producer;
    if (producer.valid()) AddReadersThroughViews(graph, readers, edge.state, producer, edges);
  }
  return edges;
}

}  // namespace

Dependencies DependenciesOf(const Graph& graph) {
  const ReaderLists readers = Readers(graph);
  const std::vector<Edge> of_updates = UpdateEdges(graph, readers);
  const auto visit_edges = [&](const auto& visit) {
    for (ValueId value : graph.values.ids()) {
      const NodeId producer = graph.values[value].producer;
      if (!producer.valid()) continue;
      for (NodeId reader : readers[value]) visit(producer, reader);
    }
    for (const auto& [before, after] : of_updates) visit(before, after);
  };
  Dependencies dependencies;
  dependencies.successors = FlatLists<NodeId, NodeId>(graph.nodes.size());
  dependencies.predecessor_count.resize(graph.nodes.size());
  visit_edges([&](NodeId before, NodeId after) {
    dependencies.successors.Count(before);
    ++dependencies.predecessor_count[after];
  });
  dependencies.successors.Allot();
  visit_edges([&](NodeId before, NodeId after) { dependencies.successors.Add(before, after); });
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

namespace {

// Returns what is wrong with the parallel streams of a schedule.
std::vector<std::string> VerifyStreams(const Graph& graph, const Schedule& schedule) {
  std::vector<std::string> violations;
  const auto scheduled = static_cast<int64_t>(schedule.steps.size());
  std::array<int64_t, kParallelStreams + 1> over{};  // when the last one of each stream is over
  for (int64_t i = 0; i < scheduled; ++i) {
    const ScheduleStep& step = schedule.steps[static_cast<size_t>(i)];
    const std::string& name = graph.nodes[step.node].name;
    if (step.stream < 0 || step.stream > kParallelStreams || step.length < 1 ||
        i + step.length > scheduled) {
      violations.push_back(name + " is in stream " + std::to_string(step.stream) + " for " +
                           std::to_string(step.length) + " steps");
      continue;
    }
    const bool alone = step.stream == 0;
    const int64_t free = alone ? *std::ranges::max_element(over)
                               : std::max(over[0], over[static_cast<size_t>(step.stream)]);
    if (i < free || (alone && step.length > 1)) {
      violations.push_back(name + " runs while another one has its threads");
    }
    over[static_cast<size_t>(step.stream)] = i + step.length;
  }
  return violations;
}

}  // namespace

std::vector<std::string> VerifySchedule(const Graph& graph, const Schedule& schedule) {
  return VerifySchedule(graph, DependenciesOf(graph), schedule);
}

std::vector<std::string> VerifySchedule(const Graph& graph, const Dependencies& dependencies,
                                        const Schedule& schedule) {
  std::vector<std::string> violations;
  IdVector<NodeId, int64_t> time(graph.nodes.size(), -1), over(graph.nodes.size(), -1);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const ScheduleStep& step = schedule.steps[i];
    if (!graph.nodes.contains(step.node)) return {"step " + std::to_string(i) + " runs no node"};
    if (time[step.node] >= 0) violations.push_back(graph.nodes[step.node].name + " runs twice");
    time[step.node] = static_cast<int64_t>(i);
    over[step.node] = static_cast<int64_t>(i) + step.length;
  }
  for (NodeId node : graph.nodes.ids()) {
    if (time[node] < 0) violations.push_back(graph.nodes[node].name + " never runs");
    for (NodeId after : dependencies.successors[node]) {
      if (time[after] >= 0 && over[node] > time[after]) {
        violations.push_back(graph.nodes[after].name + " runs before " + graph.nodes[node].name);
      }
    }
  }
  for (std::string& violation : VerifyStreams(graph, schedule)) {
    violations.push_back(std::move(violation));
  }
  return violations;
}

}  // namespace cgrun
