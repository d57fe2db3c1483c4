// The orders: serial, breadth-first, depth-first by size, and what any order must respect.
#include "src/plan/schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/buffer_assignment.h"

namespace cgrun {
namespace {

// The nodes that read a value itself or through views of it.
void CollectReaders(const Graph& graph, const IdVector<ValueId, std::vector<NodeId>>& readers,
                    ValueId value, std::vector<NodeId>& out) {
  for (NodeId reader : readers[value]) {
    out.push_back(reader);
    const Node& node = graph.nodes[reader];
    if (GetOpDef(node.op).view) CollectReaders(graph, readers, node.outputs[0], out);
  }
}

// Runs ready nodes in the order of a priority, smallest first, until none is left.
// `Priority` maps (node, sequence number at which it became ready) to a comparable key.
template <class Priority>
Schedule ListSchedule(const Graph& graph, Priority priority) {
  const Dependencies dependencies = DependenciesOf(graph);
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  using Key = decltype(priority(NodeId(), int64_t{0}));
  using Entry = std::pair<Key, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  int64_t sequence = 0;
  const auto make_ready = [&](NodeId node) { ready.push({priority(node, sequence++), node}); };
  for (NodeId node : graph.nodes.ids()) {
    if (missing[node] == 0) make_ready(node);
  }
  Schedule schedule;
  while (!ready.empty()) {
    const NodeId node = ready.top().second;
    ready.pop();
    schedule.steps.push_back({node, 0});
    for (NodeId successor : dependencies.successors[node]) {
      if (--missing[successor] == 0) make_ready(successor);
    }
  }
  CGRUN_CHECK(schedule.steps.size() == graph.nodes.size()) << "the dependencies have a cycle";
  return schedule;
}

// Path by path, as a person writes a training loop: the forward part of a path, its backward part
// and its updates before the next path, each in the order in which its nodes were built.
Schedule Serial(const Graph& graph) {
  return ListSchedule(
      graph, [&](NodeId node, int64_t) { return std::make_pair(graph.nodes[node].path, node); });
}

// First ready, first run.
Schedule BreadthFirst(const Graph& graph) {
  return ListSchedule(graph, [](NodeId, int64_t sequence) { return sequence; });
}

// Last ready, first run; of nodes that became ready together, the one with the smaller outputs, so
// that a branch is finished before the next is begun.
Schedule DepthFirst(const Graph& graph) {
  IdVector<NodeId, int64_t> bytes(graph.nodes.size());
  for (NodeId id : graph.nodes.ids()) {
    for (ValueId output : graph.nodes[id].outputs) bytes[id] += graph.BytesOf(output);
  }
  const Dependencies dependencies = DependenciesOf(graph);
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  std::vector<NodeId> stack;
  const auto push_sorted = [&](std::vector<NodeId> nodes) {
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return std::make_tuple(bytes[a], a) > std::make_tuple(bytes[b], b);  // the top comes last
    });
    stack.insert(stack.end(), nodes.begin(), nodes.end());
  };
  std::vector<NodeId> roots;
  for (NodeId node : graph.nodes.ids()) {
    if (missing[node] == 0) roots.push_back(node);
  }
  push_sorted(roots);
  Schedule schedule;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    schedule.steps.push_back({node, 0});
    std::vector<NodeId> ready;
    for (NodeId successor : dependencies.successors[node]) {
      if (--missing[successor] == 0) ready.push_back(successor);
    }
    push_sorted(std::move(ready));
  }
  CGRUN_CHECK(schedule.steps.size() == graph.nodes.size()) << "the dependencies have a cycle";
  return schedule;
}

// Bytes below which no plan of this order can stay.
int64_t BoundOf(const Graph& graph, const Schedule& schedule) {
  const BufferAssignment assignment =
      AssignBuffers(graph, schedule, ComputeLiveness(graph, schedule));
  MemoryProblem problem;
  for (const SharedBuffer& buffer : assignment.buffers) {
    if (buffer.persistent) continue;
    Buffer item;
    item.bytes = buffer.bytes;
    item.lower = buffer.lifespan.lower;
    item.upper = buffer.lifespan.upper;
    problem.buffers.push_back(std::move(item));
  }
  return LowerBound(problem);
}

// The order that needs the least memory of the others; the first of those that need as little.
Schedule LeastMemory(const Graph& graph) {
  Schedule best = Serial(graph);
  int64_t best_bytes = BoundOf(graph, best);
  for (OrderFunction order : {DepthFirst, BreadthFirst}) {
    Schedule candidate = order(graph);
    const int64_t bytes = BoundOf(graph, candidate);
    if (bytes >= best_bytes) continue;
    best = std::move(candidate);
    best_bytes = bytes;
  }
  return best;
}

constexpr OrderEntry kOrders[] = {
    {"memory", LeastMemory, "the one of the others that needs the least memory"},
    {"serial", Serial, "path by path as the file has them: forward, backward, updates"},
    {"bfs", BreadthFirst, "breadth-first: what became ready first runs first"},
    {"dfs", DepthFirst, "depth-first: a branch is finished before the next, small outputs first"},
};

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
