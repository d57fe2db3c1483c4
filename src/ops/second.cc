// Second results.
#include "src/ops/second.h"

#include <algorithm>

namespace cgrun {

bool CanRunAgain(const Graph& graph, NodeId id) {
  const OpDef& def = GetOpDef(graph.nodes[id].op);
  if (def.has_effect) return false;
  if (def.second != nullptr) return true;
  return std::none_of(graph.updates.begin(), graph.updates.end(), [&](const UpdateEdge& edge) {
    return graph.values[edge.next].producer == id;
  });
}

SecondNode SecondOf(const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  if (def.second != nullptr) return def.second(node);
  return {node.op, node.attributes, node.inputs};
}

NodeSignature SignatureOfSecond(const Graph& graph, const Node& node, const SecondNode& second) {
  NodeSignature signature{
      second.op, second.attributes, {}, {graph.values[node.outputs[0]].type}, {}};
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
