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

std::optional<KernelOption> OptionOfSecond(const Graph& graph, const Node& node,
                                           const SecondNode& second, const Target& target,
                                           int threads) {
  const Value& result = graph.values[node.outputs[0]];
  NodeSignature signature{second.op, second.attributes, {}, {result.type}, {}};
  RunSetting setting{threads, {}, graph.Learns()};
  for (ValueId input : second.inputs) {
    signature.inputs.push_back(graph.values[input].type);
    setting.layouts.push_back(graph.values[input].layout);
  }
  for (KernelOption& option : target.Options(signature, setting)) {
    if (option.input_layouts == setting.layouts && option.output_layouts[0] == result.layout) {
      return std::move(option);
    }
  }
  return std::nullopt;
}

}  // namespace cgrun
