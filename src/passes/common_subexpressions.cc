// Common sub-expressions: nodes of one operator, equal attributes and the same inputs are computed
// once; equal constants are kept once. Random operators differ in their key, updates are never
// merged.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewriter.h"

namespace cgrun::passes {
namespace {

using NodeKey = std::tuple<OpId, std::string, std::vector<ValueId>>;

NodeKey KeyOf(const Node& node) {
  std::vector<ValueId> inputs = node.inputs;
  if (GetOpDef(node.op).commutative) std::sort(inputs.begin(), inputs.begin() + 2);
  return {node.op, node.attributes.ToString(), std::move(inputs)};
}

bool CanMerge(const Node& node) {
  return node.op != OpId::fused && !node.again_of.valid() && node.phase != Phase::kUpdate &&
         !GetOpDef(node.op).has_effect;
}

bool MergeConstants(Rewriter& rewriter) {
  const Graph& graph = rewriter.graph();
  std::map<std::string, ValueId> first;
  bool changed = false;
  for (const auto& [id, tensor] : graph.constants) {
    if (!rewriter.IsRead(id)) continue;
    std::string key = graph.values[id].type.ToString() + ":";
    key.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    const auto [it, is_new] = first.emplace(std::move(key), id);
    if (is_new) continue;
    rewriter.ReplaceUses(id, it->second);
    changed = true;
  }
  return changed;
}

}  // namespace

bool MergeCommonSubexpressions(Graph& graph, const PassContext&) {
  Rewriter rewriter(graph);
  bool changed = MergeConstants(rewriter);
  std::map<NodeKey, NodeId> first;
  for (NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    if (!CanMerge(node)) continue;
    const auto [it, is_new] = first.emplace(KeyOf(node), id);
    if (is_new) continue;
    const std::vector<ValueId>& originals = graph.nodes[it->second].outputs;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      changed |= rewriter.IsRead(node.outputs[i]);
      rewriter.ReplaceUses(node.outputs[i], originals[i]);
    }
  }
  return changed;
}

}  // namespace cgrun::passes
