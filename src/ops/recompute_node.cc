// Finds what recomputes a node.
#include "src/ops/recompute_node.h"

namespace cgrun {

IdVector<NodeId, bool> RecomputableNodes(const Graph& graph) {
  IdVector<NodeId, bool> may_recompute(graph.nodes.size(), true);
  for (const UpdateEdge& edge : graph.updates) {
    const NodeId producer = graph.values[edge.next].producer;
    if (producer.valid()) may_recompute[producer] = false;
  }
  for (NodeId id : graph.nodes.ids()) {
    const OpDef& def = GetOpDef(graph.nodes[id].op);
    may_recompute[id] = !def.has_effect && (def.recompute != nullptr || may_recompute[id]);
  }
  return may_recompute;
}

RecomputeNode RecomputeNodeOf(const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  if (def.recompute != nullptr) return def.recompute(node);
  return {node.op, node.attributes, node.inputs};
}

NodeSignature SignatureOfRecompute(const Graph& graph, const Node& node,
                                   const RecomputeNode& recompute) {
  NodeSignature signature{
      recompute.op, recompute.attributes, {}, {graph.values[node.outputs[0]].type}, {}};
  signature.inputs.reserve(recompute.inputs.size());
  for (ValueId input : recompute.inputs) signature.inputs.push_back(graph.values[input].type);
  return signature;
}

std::optional<KernelOption> OptionOfRecompute(const Graph& graph, const Node& node,
                                              const RecomputeNode& recompute, const Target& target,
                                              int threads) {
  const Layout& result = graph.values[node.outputs[0]].layout;
  RunSetting setting{threads, {}, graph.Learns()};
  for (ValueId input : recompute.inputs) setting.layouts.push_back(graph.values[input].layout);
  for (KernelOption& option :
       target.Options(SignatureOfRecompute(graph, node, recompute), setting)) {
    if (option.input_layouts == setting.layouts && option.output_layouts[0] == result) {
      return std::move(option);
    }
  }
  return std::nullopt;
}

}  // namespace cgrun
