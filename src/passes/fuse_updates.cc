// An optimizer and the product that makes its gradient become one node where the target has a
// kernel for the two: it takes the gradient as the product makes it, part by part, so that the
// gradient, as large as the parameter, is never there as a whole.
//
//   w', v' = sgd(w, matmul(dyᵀ, x), lr, v)  →  w', v' = fused(dy, x, w, lr, v)
//
// No bit changes: a target has such a kernel only where its kernel for the product alone does the
// same sums.
#include <optional>

#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr size_t kGradient = 1;  // among the inputs of every optimizer

// The product whose result the optimizer alone reads.
NodeId ProductOf(const Graph& graph, const IdVector<ValueId, std::vector<NodeId>>& readers,
                 const Node& optimizer) {
  if (GetOpDef(optimizer.op).usage != Usage::kOptimizer) return NodeId();
  const ValueId gradient = optimizer.inputs[kGradient];
  const NodeId id = graph.values[gradient].producer;
  if (!id.valid() || graph.nodes[id].op != OpId::matmul) return NodeId();
  return readers[gradient].size() == 1 && IsInternal(graph, gradient) ? id : NodeId();
}

Node Fused(const Node& product, const Node& optimizer) {
  Node fused = optimizer;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = product.inputs;
  FusedOperator second{optimizer.op, optimizer.attributes, {}};
  for (size_t i = 0; i < optimizer.inputs.size(); ++i) {
    second.operands.push_back(i == kGradient ? -1 : static_cast<int>(fused.inputs.size()));
    if (i != kGradient) fused.inputs.push_back(optimizer.inputs[i]);
  }
  fused.body = {{product.op, product.attributes, {0, 1}}, second};
  return fused;
}

// It has to take less time and less memory than the two by themselves.
bool Pays(const Graph& graph, const Node& product, const Node& optimizer, const Node& fused,
          const PassContext& context) {
  const auto together = BestOption(graph, fused, context);
  const auto first = BestOption(graph, product, context);
  const auto second = BestOption(graph, optimizer, context);
  if (!together || !first || !second) return false;
  const int64_t apart = first->workspace_bytes + graph.BytesOf(product.outputs[0]);
  return together->seconds < first->seconds + second->seconds && together->workspace_bytes < apart;
}

}  // namespace

bool FuseUpdates(Graph& graph, const PassContext& context) {
  const IdVector<ValueId, std::vector<NodeId>> readers = Readers(graph);
  IdVector<NodeId, bool> keep_node(graph.nodes.size(), true);
  IdVector<ValueId, bool> keep_value(graph.values.size(), true);
  bool changed = false;
  for (NodeId id : graph.nodes.ids()) {
    Node& optimizer = graph.nodes[id];
    const NodeId product = ProductOf(graph, readers, optimizer);
    if (!product.valid()) continue;
    Node fused = Fused(graph.nodes[product], optimizer);
    if (!Pays(graph, graph.nodes[product], optimizer, fused, context)) continue;
    keep_node[product] = keep_value[optimizer.inputs[kGradient]] = false;
    optimizer = std::move(fused);
    changed = true;
  }
  if (changed) Compact(graph, keep_node, keep_value);
  return changed;
}

}  // namespace cgrun::passes
