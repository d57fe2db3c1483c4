// Finds second results.
#include "src/ops/second.h"

namespace cgrun {

IdVector<NodeId, bool> NodesThatRunAgain(const Graph& graph) {
  IdVector<NodeId, bool> run_again(graph.nodes.size(), true);
  for (const UpdateEdge& edge : graph.updates) {
    const NodeId producer = graph.values[edge.next].producer;
    if (producer.valid()) run_again[producer] = false;
  }
  for (NodeId id : graph.nodes.ids()) {
    const OpDef& def = GetOpDef(graph.nodes[id].op);
    run_again[id] = !def.has_effect && (def.second != nullptr || run_again[id]);
  }
  return run_again;
}

SecondNode SecondOf(const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  if (def.second != nullptr) return def.second(node);
  return {node.op, node.attributes, node.inputs};
}

NodeSignature SignatureOfSecond(const Graph& graph, const Node& node, const SecondNode& second) {
  NodeSignature signature{
      second.op, second.attributes, {}, {graph.values[node.outputs[0]].type}, {}};
  signature.inputs.reserve(second.inputs.size());
  for (ValueId input : second.inputs) signature.inputs.push_back(graph.values[input].type);
  return signature;
}

std::optional<KernelOption> OptionOfSecond(const Graph& graph, const Node& node,
                                           const SecondNode& second, const Target& target,
                                           int threads) {
  const Layout& result = graph.values[node.outputs[0]].layout;
  RunSetting setting{threads, {}, graph.Learns()};
  for (ValueId input : second.inputs) setting.layouts.push_back(graph.values[input].layout);
  for (KernelOption& option : target.Options(SignatureOfSecond(graph, node, second), setting)) {
    if (option.input_layouts == setting.layouts && option.output_layouts[0] == result) {
      return std::move(option);
    }
  }
  return std::nullopt;
}

}  // namespace cgrun
