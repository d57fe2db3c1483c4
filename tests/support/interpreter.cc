// Node-by-node evaluation on host tensors.
#include "tests/support/interpreter.h"

#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

using Tensors = std::optional<std::vector<HostTensor>>;

// A fused node by its body, operator by operator: not by the kernel that is to be tested.
Tensors EvaluateBody(const NodeSignature& node, const std::vector<HostTensor>& inputs,
                     const Target& target) {
  std::vector<HostTensor> results;
  for (size_t i = 0; i < node.body.size(); ++i) {
    const NodeSignature signature = SignatureInBody(node, i);
    std::vector<HostTensor> operands;
    for (int operand : node.body[i].operands) {
      operands.push_back(operand >= 0 ? inputs.at(static_cast<size_t>(operand))
                                      : results.at(static_cast<size_t>(-1 - operand)));
    }
    Tensors outputs = target.Evaluate(signature, operands);
    if (!outputs) return std::nullopt;
    results.push_back(std::move(outputs->at(0)));
  }
  return std::vector{std::move(results.back())};
}

}  // namespace

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
    const NodeSignature signature = SignatureOf(graph, node);
    Tensors outputs = node.op == OpId::fused ? EvaluateBody(signature, inputs, target)
                                             : target.Evaluate(signature, inputs);
    CGRUN_CHECK(outputs.has_value()) << node.name << " has no kernel";
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      values.insert_or_assign(node.outputs[i], std::move((*outputs)[i]));
    }
  }
  return values;
}

}  // namespace cgrun
