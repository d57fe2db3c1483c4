// Fusion of activations: an operator and the activation that alone reads it become one node where
// the target has a kernel for the two that beats its kernels one by one.
#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr double kLeastGain = 0.01;  // finer than this the estimates are not

bool Fits(const Node& producer, const Node& activation, int) {
  if (!GetOpDef(activation.op).activation || activation.inputs.size() != 1) return false;
  const OpDef& def = GetOpDef(producer.op);
  const bool is_simple =
      producer.op != OpId::fused && !def.view && !def.needs_step && !def.has_effect;
  return is_simple && producer.phase == activation.phase && producer.path == activation.path;
}

bool Pays(const Graph& graph, const FusedPairs& pairs, const PassContext& context) {
  const auto together = BestOption(graph, pairs.fused[0], context);
  const auto first = BestOption(graph, pairs.producer, context);
  const auto second = BestOption(graph, *pairs.readers[0], context);
  if (!together || !first || !second) return together.has_value();
  return together->seconds < (first->seconds + second->seconds) * (1 - kLeastGain);
}

}  // namespace

bool FuseActivations(Graph& graph, const PassContext& context) {
  return FusePairs(graph, {Fits, Pays}, context);
}

}  // namespace cgrun::passes
