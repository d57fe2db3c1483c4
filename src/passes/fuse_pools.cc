// If the target has a kernel for the two, a convolution and the max_pool that alone reads it become
// one node. The gradient of a max_pool and each of its readers become one node in the same way. The
// larger side of the pool takes most of the memory of a small network's first layers. After this
// pass it is never there as a whole.
//
//   y, index = max_pool(relu(conv(x, w)))              →  y, index = fused(x, w)
//   dw = conv_weight_grad(x, max_pool_grad(index, dy))  →  dw = fused(index, dy, x)
//
// The bits are those of the target's own kernels for the operators, which do the same sums. If it
// would choose a library's kernel for one of them by itself, the bits differ as between layouts.
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

bool IsPooledConvolution(const Node& producer, const Node& reader, int) {
  const OpId first = producer.op == OpId::fused ? producer.body[0].op : producer.op;
  return first == OpId::conv && reader.op == OpId::max_pool && OfOnePlace(producer, reader);
}

bool ReadsGradientOfPool(const Node& producer, const Node& reader, int) {
  return producer.op == OpId::max_pool_grad && reader.op != OpId::fused &&
         OfOnePlace(producer, reader);
}

constexpr FusionPattern kPoolPatterns[] = {Pairs<IsPooledConvolution, TakesLess>(),
                                           Pairs<ReadsGradientOfPool, TakesLess, true>()};

}  // namespace

bool FusePools(Graph& graph, const PassContext& context) {
  return Fuse(graph, kPoolPatterns, context);
}

}  // namespace cgrun::passes
