// Edits that several passes make.
#include "src/passes/rewrite.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

Node Joined(const Node& producer, const Node& reader) {
  Node fused = reader;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = producer.inputs;
  fused.body = BodyOf(producer);
  const int before = static_cast<int>(fused.body.size());
  std::vector<int> of_inputs;  // operands for the reader's body
  for (const ValueId input : reader.inputs) {
    const bool between = input == producer.outputs[0];
    of_inputs.push_back(between ? -before : static_cast<int>(fused.inputs.size()));
    if (!between) fused.inputs.push_back(input);
  }
  for (FusedOperator inner : BodyOf(reader)) {
    for (int& operand : inner.operands) {
      operand = operand < 0 ? operand - before : of_inputs[static_cast<size_t>(operand)];
    }
    fused.body.push_back(std::move(inner));
  }
  return fused;
}

// The pairs that a producer makes with its readers; nothing where one does not fit.
std::optional<FusedPairs> Fused(const Graph& graph, const Node& producer,
                                std::span<const NodeId> readers, const PairFusion& fusion) {
  FusedPairs pairs{producer, {}, {}};
  for (const NodeId id : readers) {
    const Node& reader = graph.nodes[id];
    const auto& inputs = reader.inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), producer.outputs[0]);
    if (!fusion.fits(producer, reader, static_cast<int>(at - inputs.begin()))) return std::nullopt;
    pairs.readers.push_back(&reader);
    pairs.fused.push_back(Joined(producer, reader));
  }
  return pairs;
}

}  // namespace

GraphReaders::GraphReaders(const Graph& graph)
    : nodes(Readers(graph)), outside(graph.values.size()) {
  for (const Output& output : graph.outputs) outside[output.value] = true;
  for (const UpdateEdge& edge : graph.updates) outside[edge.next] = true;
}

std::vector<FusedOperator> BodyOf(const Node& node) {
  if (node.op == OpId::fused) return node.body;
  std::vector<int> operands(node.inputs.size());
  std::iota(operands.begin(), operands.end(), 0);
  return {{node.op, node.attributes, std::move(operands)}};
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
  IdVector<NodeId, NodeId> behind(graph.nodes.size());  // which of the others a node stands
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
    if (node.again_of.valid()) node.again_of = moved[node.again_of];
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

bool FusePairs(Graph& graph, const PairFusion& fusion, const PassContext& context) {
  const GraphReaders readers(graph);
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& producer = graph.nodes[id];
    if (producer.outputs.size() != 1 || !readers.IsInternal(producer.outputs[0])) continue;
    const std::span<const NodeId> of_result = readers[producer.outputs[0]];
    if (of_result.empty() || (of_result.size() > 1 && !fusion.several)) continue;
    const std::optional<FusedPairs> pairs = Fused(graph, producer, of_result, fusion);
    if (!pairs || !fusion.pays(graph, *pairs, context)) continue;
    keep_node[id] = keep_value[producer.outputs[0]] = false;
    for (size_t i = 0; i < of_result.size(); ++i) graph.nodes[of_result[i]] = pairs->fused[i];
    changed = true;
  }
  if (changed) Compact(graph, keep_node, keep_value);
  return changed;
}

bool TakesLess(const Graph& graph, const FusedPairs& pairs, const PassContext& context) {
  const auto producer = BestOption(graph, pairs.producer, context);
  if (!producer) return false;
  TensorType between = graph.values[pairs.producer.outputs[0]].type;
  between.shape = between.shape.Bind(context.batch);
  double apart = producer->seconds, together = 0;
  for (size_t i = 0; i < pairs.readers.size(); ++i) {
    const auto fused = BestOption(graph, pairs.fused[i], context);
    const auto reader = BestOption(graph, *pairs.readers[i], context);
    if (!fused || !reader) return false;
    const int64_t workspace = std::max(producer->workspace_bytes, reader->workspace_bytes);
    if (fused->workspace_bytes >= workspace + ByteSize(between)) return false;
    apart += reader->seconds;
    together += fused->seconds;
  }
  return together < apart;
}

}  // namespace cgrun
