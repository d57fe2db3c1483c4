// A product and the addition that alone reads it become one node where the target has a kernel for
// the two. A weight that is used several times, as that of a cell that is unrolled, has a gradient
// for each use, and they are added up: so each of them goes into the sum as it is made, in place,
// and none is ever there as a whole.
//
//   add(sum, matmul(dyᵀ, x))  →  fused(dy, x, sum)
//
// No bit changes: a target has such a kernel only where its kernel for the product alone does the
// same sums, and they are rounded before they are added.
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

bool Fits(const Node& product, const Node& addition, int) {
  if (product.op != OpId::matmul || addition.op != OpId::add) return false;
  const bool twice = addition.inputs[0] == addition.inputs[1];  // there is nothing to add it to
  return !twice && product.phase == addition.phase && product.path == addition.path;
}

}  // namespace

bool FuseSums(Graph& graph, const PassContext& context) {
  return FusePairs(graph, {Fits, TakesLess}, context);
}

}  // namespace cgrun::passes
