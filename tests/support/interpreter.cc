// Evaluates a graph node by node on host tensors.
#include "tests/support/interpreter.h"

#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

using Tensors = std::optional<std::vector<HostTensor>>;

// A fused node by its body, operator by operator: not by the kernel that is to be tested.
Tensors EvaluateBody(const NodeSignature& node, const std::vector<HostTensor>& inputs,
                     const Target& target) {
  const std::vector<NodeSignature> body = SignaturesInBody(node);
  std::vector<HostTensor> results;
  Tensors outputs;
  for (size_t i = 0; i < body.size(); ++i) {
    std::vector<HostTensor> operands;
    for (int operand : node.body[i].operands) {
      operands.push_back(operand >= 0 ? inputs.at(static_cast<size_t>(operand))
                                      : results.at(static_cast<size_t>(-1 - operand)));
    }
    outputs = target.Evaluate(body[i], operands);
    if (!outputs) return std::nullopt;
    results.push_back(outputs->at(0));
  }
  return outputs;
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
