// An optimizer and the product that makes its gradient become one node where the target has a
// kernel for the two: it takes the gradient as the product makes it, part by part, so that the
// gradient, as large as the parameter, is never there as a whole.
//
//   w', v' = sgd(w, matmul(dyᵀ, x), lr, v)  →  w', v' = fused(dy, x, w, lr, v)
//
// No bit changes: a target has such a kernel only where its kernel for the product alone does the
// same sums.
#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr int kGradient = 1;  // among the inputs of every optimizer

int InputOfOptimizer(const Node& node) {
  return GetOpDef(node.op).usage == Usage::kOptimizer ? kGradient : -1;
}

bool Fits(const Node& product, const Node&) { return product.op == OpId::matmul; }

Node Fused(const Node& product, const Node& optimizer) {
  Node fused = optimizer;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = product.inputs;
  FusedOperator second{optimizer.op, optimizer.attributes, {}};
  for (int i = 0; i < static_cast<int>(optimizer.inputs.size()); ++i) {
    const bool is_gradient = i == kGradient;
    second.operands.push_back(is_gradient ? -1 : static_cast<int>(fused.inputs.size()));
    if (!is_gradient) fused.inputs.push_back(optimizer.inputs[static_cast<size_t>(i)]);
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
  return FusePairs(graph, {InputOfOptimizer, Fits, Fused, Pays}, context);
}

}  // namespace cgrun::passes
