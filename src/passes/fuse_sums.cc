// A product and the addition that alone reads it become one node where the target has a kernel for
// the two. A weight that is used several times, as that of a cell that is unrolled, has a gradient
// for each use, and they are added up: so each of them but one goes into the sum as it is made, in
// place, and is never there as a whole.
//
//   add(sum, matmul(dyᵀ, x))  →  fused(dy, x, sum)
//
// What a product reads waits for the sum, which waits for the use that the backward pass comes to
// last: so it is to be no more than the product. No bit changes: a target has such a kernel only
// where its kernel for the product alone does the same sums, and they are rounded before they are
// added.
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

bool Fits(const Node& product, const Node& addition, int) {
  if (product.op != OpId::matmul || addition.op != OpId::add) return false;
  const bool twice = addition.inputs[0] == addition.inputs[1];  // there is nothing to add it to
  return !twice && product.phase == addition.phase && product.path == addition.path;
}

bool Pays(const Graph& graph, const FusedPairs& pairs, const PassContext& context) {
  const auto bytes = [&](ValueId value) {
    TensorType type = graph.values[value].type;
    type.shape = type.shape.Bind(context.batch);
    return ByteSize(type);
  };
  int64_t read = 0;
  for (const ValueId input : pairs.producer.inputs) read += bytes(input);
  return read <= bytes(pairs.producer.outputs[0]) && TakesLess(graph, pairs, context);
}

}  // namespace

bool FuseSums(Graph& graph, const PassContext& context) {
  return FusePairs(graph, {Fits, Pays}, context);
}

}  // namespace cgrun::passes
