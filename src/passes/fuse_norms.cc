// In inference a batch_norm is a factor and a summand of each channel. If it alone reads a
// convolution and the target has a kernel for both, the two become one node. A tensor that is added
// then joins this node, and so does the activation behind that. The kernel folds the factors into
// the weights in each step, or multiplies the sums by them. No second copy of the weights is held.
//
//   y = relu(batch_norm(conv(x, w), …) + shortcut)  →  y = fused(x, w, …, shortcut)
//
// The sums are those of the convolution; they are rounded once behind all of it, and not after each
// operator.
#include "src/ops/batch_norm.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

bool IsNormedConvolution(const Node& node) {
  return node.op == OpId::fused && node.body[0].op == OpId::conv &&
         node.body[1].op == OpId::batch_norm;
}

bool IsNormBehindConvolution(const Node& producer, const Node& reader, int input) {
  return producer.op == OpId::conv && reader.op == OpId::batch_norm && input == 0 &&
         !reader.attributes.As<BatchNormAttributes>().training && OfOnePlace(producer, reader);
}

bool IsSumBehindNorm(const Node& producer, const Node& reader, int) {
  return IsNormedConvolution(producer) && producer.body.size() == 2 && reader.op == OpId::add &&
         reader.inputs[0] != reader.inputs[1] && OfOnePlace(producer, reader);
}

bool IsReluBehindSum(const Node& producer, const Node& reader, int) {
  return IsNormedConvolution(producer) && producer.body.back().op == OpId::add &&
         reader.op == OpId::relu && OfOnePlace(producer, reader);
}

constexpr FusionPattern kNormPatterns[] = {Pairs<IsNormBehindConvolution, TakesLess>(),
                                           Pairs<IsSumBehindNorm, TakesLess>(),
                                           Pairs<IsReluBehindSum, TakesLess>()};

}  // namespace

bool FuseNorms(Graph& graph, const PassContext& context) {
  return Fuse(graph, kNormPatterns, context);
}

}  // namespace cgrun::passes
