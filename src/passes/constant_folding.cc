// Constant folding: a node whose inputs are all constants is evaluated once, as the device would.
#include <algorithm>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewriter.h"

namespace cgrun::passes {
namespace {

// A constant may not take more memory than what it was made from, beyond this.
constexpr int64_t kFreeGrowthBytes = 4096;

bool CanFold(const Graph& graph, const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  if (node.inputs.empty() || def.has_effect || def.needs_step) return false;
  int64_t input_bytes = 0, output_bytes = 0;
  for (ValueId input : node.inputs) {
    if (graph.values[input].role != Role::kConstant) return false;
    input_bytes += graph.BytesOf(input);
  }
  for (ValueId output : node.outputs) {
    if (!graph.values[output].type.shape.IsBound()) return false;
    output_bytes += graph.BytesOf(output);
  }
  return output_bytes <= input_bytes + kFreeGrowthBytes;
}

// A node whose results nothing reads is left to dead code.
bool IsRead(const Rewriter& rewriter, const Node& node) {
  return std::ranges::any_of(node.outputs, [&](ValueId output) { return rewriter.IsRead(output); });
}

}  // namespace

bool FoldConstants(Graph& graph, const PassContext& context) {
  // As long as none of these can be folded, none that reads one can.
  const auto can_fold = [&](const Node& node) { return CanFold(graph, node); };
  if (std::ranges::none_of(graph.nodes, can_fold)) return false;
  Rewriter rewriter(graph);
  bool changed = false;
  for (NodeId id : TopologicalOrder(graph)) {
    if (!CanFold(graph, graph.nodes[id]) || !IsRead(rewriter, graph.nodes[id])) continue;
    const Node node = graph.nodes[id];
    std::vector<HostTensor> inputs;
    for (ValueId input : node.inputs) inputs.push_back(graph.constants.at(input));
    const auto outputs = context.target.Evaluate(SignatureOf(graph, node), inputs);
    if (!outputs) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId constant = rewriter.AddConstant(
          (*outputs)[i], graph.values[node.outputs[i]].name + ".folded", node.mark);
      rewriter.ReplaceUses(node.outputs[i], constant);
    }
    changed = true;
  }
  return changed;
}

}  // namespace cgrun::passes
