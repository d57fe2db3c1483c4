// The budget follows from the operands of the largest node.
#include "src/select/workspace_budget.h"

#include <algorithm>

namespace cgrun {
namespace {

constexpr int64_t kMorePart = 16;

int64_t OperandBytes(const Graph& graph, const Node& node) {
  int64_t bytes = 0;
  for (const auto* operands : {&node.inputs, &node.outputs}) {
    for (const ValueId value : *operands) {
      const Value& operand = graph.values[value];
      const bool stays = IsState(operand.role) || operand.role == Role::kConstant;
      if (!stays) bytes += ByteSize(operand.type);
    }
  }
  return bytes;
}

}  // namespace

int64_t WorkspaceBudget(const Graph& graph) {
  int64_t most = 0;
  for (const Node& node : graph.nodes) most = std::max(most, OperandBytes(graph, node));
  return most + most / kMorePart;
}

}  // namespace cgrun
