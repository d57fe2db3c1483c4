// A product and the addition that alone reads it become one node where the target has a kernel for
// the two. A weight that is used several times, as that of a cell that is unrolled, has a gradient
// for each use, and they are added up. So each of them but one goes into the sum as it is made, in
// place. It is never there as a whole.
//
//   add(sum, matmul(dyᵀ, x))  →  fused(dy, x, sum)
//
// An unrolled cell has one such node for each step, and so a sweep over the sum for each. Those of
// a few steps become one node, and one sweep, where the target has a kernel for that.
//
//   fused(dy1, x1, fused(dy2, x2, sum))  →  fused(dy2, x2, sum, dy1, x1)
//
// What a product reads waits for the sum, which waits for the use that the backward pass comes to
// last: so it is to be no more than the product. In a sweep, what the products of earlier
// steps read waits for the last one, too, where it would be read at once: so that is to be no more
// than half of a product. No bit changes: a target has
// such a kernel only where its kernel for the product alone does the same sums, and they are
// rounded, in the same order, before they are added.
#include <iterator>

#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

constexpr int kSum = 2;  // among the inputs of a product that is added to a sum

bool IsSummedProduct(const Node& product, const Node& addition, int) {
  if (product.op != OpId::matmul || addition.op != OpId::add) return false;
  const bool twice = addition.inputs[0] == addition.inputs[1];  // there is nothing to add it to
  return !twice && OfOnePlace(product, addition);
}

bool AddsProducts(const Node& node) {
  return node.op == OpId::fused && node.body[0].op == OpId::matmul &&
         node.body.back().op == OpId::add;
}

bool IsSumOfAnother(const Node& sum, const Node& next, int input) {
  return AddsProducts(sum) && AddsProducts(next) && input == kSum && OfOnePlace(sum, next);
}

// Returns the bytes that the producer's products read. These stay alive until the reader runs.
int64_t BytesThatWait(const FusionView& view, const Node& producer) {
  int64_t bytes = 0;
  for (int i = 0; i < std::ssize(producer.inputs); ++i) {
    if (i != kSum) bytes += view.BytesOf(producer.inputs[static_cast<size_t>(i)]);
  }
  return bytes;
}

// `kPart`: of a product, as 1 ÷ kPart.
template <int kPart>
bool Pays(const FusionView& view, const FusedPairs& pairs) {
  const int64_t product = view.BytesOf(pairs.producer.outputs[0]);
  return BytesThatWait(view, pairs.producer) <= product / kPart && TakesLess(view, pairs);
}

constexpr FusionPattern kSumPatterns[] = {Pairs<IsSummedProduct, Pays<1>>(),
                                          Pairs<IsSumOfAnother, Pays<2>>()};

}  // namespace

bool FuseSums(Graph& graph, const PassContext& context) {
  return Fuse(graph, kSumPatterns, context);
}

}  // namespace cgrun::passes
