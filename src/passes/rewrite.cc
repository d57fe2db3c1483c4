// Edits that several passes make.
#include "src/passes/rewrite.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {
namespace {

NodeSignature Bound(const Graph& graph, const Node& node, int64_t batch) {
  NodeSignature signature = SignatureOf(graph, node);
  signature.attributes = signature.attributes.Bind(batch);
  for (FusedOperator& inner : signature.body) inner.attributes = inner.attributes.Bind(batch);
  for (TensorType& type : signature.inputs) type.shape = type.shape.Bind(batch);
  for (TensorType& type : signature.outputs) type.shape = type.shape.Bind(batch);
  return signature;
}

}  // namespace

GraphReaders::GraphReaders(const Graph& graph)
    : nodes(Readers(graph)), outside(graph.values.size()) {
  for (const Output& output : graph.outputs) outside[output.value] = true;
  for (const UpdateEdge& edge : graph.updates) outside[edge.next] = true;
}

namespace {

// For each value the first node before `end` that reads it; invalid where there is none.
IdVector<ValueId, NodeId> FirstReaders(const Graph& graph, NodeId end) {
  IdVector<ValueId, NodeId> first(graph.values.size());
  for (int64_t i = end.index; i-- > 0;) {
    for (const ValueId input : graph.nodes[NodeId(i)].inputs) first[input] = NodeId(i);
  }
  return first;
}

// The node in front of the first that reads what this one makes; invalid where that is the very
// first.
NodeId BeforeReaders(const IdVector<ValueId, NodeId>& first_readers, const Node& node) {
  NodeId first;
  for (const ValueId output : node.outputs) {
    const NodeId reader = first_readers[output];
    if (reader.valid() && (!first.valid() || reader < first)) first = reader;
  }
  return first.valid() ? NodeId(first.index - 1) : NodeId();
}

}  // namespace

void MoveBehindInputs(Graph& graph, NodeId first) {
  const IdVector<ValueId, NodeId> first_readers = FirstReaders(graph, first);
  IdVector<NodeId, NodeId> behind(graph.nodes.size());  // the node that each one stands behind
  for (const NodeId id : graph.nodes.ids()) {
    if (id < first) behind[id] = id;
    for (const ValueId input : graph.nodes[id].inputs) {
      const NodeId producer = graph.values[input].producer;
      if (id >= first && producer.valid()) behind[id] = std::max(behind[id], behind[producer]);
    }
    if (id >= first && !behind[id].valid())
      behind[id] = BeforeReaders(first_readers, graph.nodes[id]);
  }
  std::vector<std::pair<NodeId, NodeId>> order;
  for (const NodeId id : graph.nodes.ids()) order.emplace_back(behind[id], id);
  std::sort(order.begin(), order.end());
  IdVector<NodeId, Node> nodes;
  IdVector<NodeId, NodeId> moved(graph.nodes.size());
  for (const auto& [behind, id] : order) moved[id] = nodes.push_back(std::move(graph.nodes[id]));
  for (Node& node : nodes) {
    if (node.recomputes.valid()) node.recomputes = moved[node.recomputes];
  }
  for (Value& value : graph.values) {
    if (value.producer.valid()) value.producer = moved[value.producer];
  }
  graph.nodes = std::move(nodes);
}

std::optional<KernelOption> BestOption(const Graph& graph, const Node& node,
                                       const PassContext& context) {
  const RunSetting setting{context.threads, {}, graph.Learns()};
  std::optional<KernelOption> best;
  for (KernelOption& option : context.target.Options(Bound(graph, node, context.batch), setting)) {
    if (!best || option.seconds < best->seconds) best = std::move(option);
  }
  return best;
}

}  // namespace cgrun
