// Edits that several passes make.
#include "src/passes/rewrite.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/base/check.h"
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
  fused.body = producer.body;
  if (producer.op != OpId::fused) {
    std::vector<int> operands(producer.inputs.size());
    std::iota(operands.begin(), operands.end(), 0);
    fused.body = {{producer.op, producer.attributes, std::move(operands)}};
  }
  const int result = -static_cast<int>(fused.body.size());
  FusedOperator last{reader.op, reader.attributes, {}};
  for (const ValueId input : reader.inputs) {
    const bool between = input == producer.outputs[0];
    last.operands.push_back(between ? result : static_cast<int>(fused.inputs.size()));
    if (!between) fused.inputs.push_back(input);
  }
  fused.body.push_back(std::move(last));
  return fused;
}

// The pairs that a producer makes with its readers; nothing where one does not fit.
std::optional<FusedPairs> Fused(const Graph& graph, const Node& producer,
                                const std::vector<NodeId>& readers, const PairFusion& fusion) {
  FusedPairs pairs{producer, {}, {}};
  for (const NodeId id : readers) {
    const Node& reader = graph.nodes[id];
    const auto& inputs = reader.inputs;
    const auto at = std::find(inputs.begin(), inputs.end(), producer.outputs[0]);
    const bool fits = reader.op != OpId::fused &&
                      fusion.fits(producer, reader, static_cast<int>(at - inputs.begin()));
    if (!fits) return std::nullopt;
    pairs.readers.push_back(&reader);
    pairs.fused.push_back(Joined(producer, reader));
  }
  return pairs;
}

}  // namespace

void ReplaceUses(Graph& graph, ValueId from, ValueId to) {
  CGRUN_CHECK(graph.values[from].type == graph.values[to].type)
      << graph.values[from].name << " and " << graph.values[to].name << " differ in type";
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  for (Output& output : graph.outputs) {
    if (output.value == from) output.value = to;
  }
  for (UpdateEdge& edge : graph.updates) {
    if (edge.next == from) edge.next = to;
  }
  for (Path& path : graph.paths) {
    if (path.loss == from) path.loss = to;
  }
}

bool IsInternal(const Graph& graph, ValueId value) {
  const auto is_value = [&](const Output& output) { return output.value == value; };
  const auto is_next = [&](const UpdateEdge& edge) { return edge.next == value; };
  return std::none_of(graph.outputs.begin(), graph.outputs.end(), is_value) &&
         std::none_of(graph.updates.begin(), graph.updates.end(), is_next);
}

void MoveBehindInputs(Graph& graph, NodeId first) {
  std::vector<std::pair<NodeId, NodeId>> order;  // behind which a node stands, and the node
  for (const NodeId id : graph.nodes.ids()) {
    NodeId behind = id < first ? id : NodeId();
    for (const ValueId input : graph.nodes[id].inputs) {
      if (id >= first) behind = std::max(behind, graph.values[input].producer);
    }
    order.emplace_back(behind, id);
  }
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
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& producer = graph.nodes[id];
    if (producer.outputs.size() != 1 || !IsInternal(graph, producer.outputs[0])) continue;
    const std::vector<NodeId>& of_result = readers[producer.outputs[0]];
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
