// If the target has a kernel for the two, an optimizer and the product that makes its gradient
// become one node. The kernel takes the gradient part by part, as the product makes it. So the
// gradient, which is as large as the parameter, is never there as a whole.
//
//   w', v' = sgd(w, matmul(dyᵀ, x), lr, v)  →  w', v' = fused(dy, x, w, lr, v)
//
// No bit changes: a target has such a kernel only where its kernel for the product alone does the
// same sums.
#include "src/ir/op_def.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

constexpr int kGradient = 1;  // among the inputs of every optimizer

bool FitsUpdate(const Node& product, const Node& optimizer, int input) {
  return product.op == OpId::matmul && GetOpDef(optimizer.op).usage == Usage::kOptimizer &&
         input == kGradient;
}

constexpr FusionPattern kUpdatePatterns[] = {Pairs<FitsUpdate, TakesLess>()};

}  // namespace

bool FuseUpdates(Graph& graph, const PassContext& context) {
  return Fuse(graph, kUpdatePatterns, context);
}

}  // namespace cgrun::passes
