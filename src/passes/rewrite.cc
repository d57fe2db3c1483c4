// Edits that several passes make.
#include "src/passes/rewrite.h"

#include <algorithm>

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

std::optional<KernelOption> BestOption(const Graph& graph, const Node& node,
                                       const PassContext& context) {
  const RunSetting setting{context.threads, {}, graph.Learns()};
  std::optional<KernelOption> best;
  for (KernelOption& option : context.target.Options(Bound(graph, node, context.batch), setting)) {
    if (!best || option.seconds < best->seconds) best = std::move(option);
  }
  return best;
}

std::optional<double> BestSeconds(const Graph& graph, const Node& node,
                                  const PassContext& context) {
  const std::optional<KernelOption> best = BestOption(graph, node, context);
  if (!best) return std::nullopt;
  return best->seconds;
}

bool FusePairs(Graph& graph, const PairFusion& fusion, const PassContext& context) {
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) {
    Node& reader = graph.nodes[id];
    const int input = fusion.input(reader);
    if (input < 0) continue;
    const ValueId between = reader.inputs[static_cast<size_t>(input)];
    const NodeId producer = graph.values[between].producer;
    const bool is_alone = readers[between].size() == 1 && IsInternal(graph, between);
    if (!producer.valid() || !is_alone) continue;
    if (!fusion.fits(graph.nodes[producer], reader)) continue;
    Node fused = fusion.fused(graph.nodes[producer], reader);
    if (!fusion.pays(graph, graph.nodes[producer], reader, fused, context)) continue;
    keep_node[producer] = keep_value[between] = false;
    reader = std::move(fused);
    changed = true;
  }
  if (changed) Compact(graph, keep_node, keep_value);
  return changed;
}

}  // namespace cgrun
