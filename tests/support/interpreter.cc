// Node-by-node evaluation on host tensors.
#include "tests/support/interpreter.h"

#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {

std::map<ValueId, HostTensor> Interpret(const Graph& graph, const Target& target,
                                        std::map<ValueId, HostTensor> sources) {
  std::map<ValueId, HostTensor> values = std::move(sources);
  for (const auto& [id, tensor] : graph.constants) values.emplace(id, tensor);
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    std::vector<HostTensor> inputs;
    for (ValueId input : node.inputs) {
      CGRUN_CHECK(values.contains(input)) << graph.values[input].name << " has no value";
      inputs.push_back(values.at(input));
    }
    auto outputs = target.Evaluate(SignatureOf(graph, node), inputs);
    CGRUN_CHECK(outputs.has_value()) << node.name << " has no kernel";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      values.insert_or_assign(node.outputs[i], std::move((*outputs)[i]));
    }
  }
  return values;
}

}  // namespace cgrun
