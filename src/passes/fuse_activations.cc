// Fusion of activations: an operator and the activation that alone reads it become one node where
// the target has a kernel for the two that beats its kernels one by one.
#include "src/ir/op_def.h"
#include "src/passes/fusion.h"
#include "src/passes/pass.h"

namespace cgrun::passes {
namespace {

constexpr double kLeastGain = 0.01;  // finer than this the estimates are not

bool FitsActivation(const Node& producer, const Node& activation, int) {
  if (!GetOpDef(activation.op).activation || activation.inputs.size() != 1) return false;
  const OpDef& def = GetOpDef(producer.op);
  const bool is_simple =
      producer.op != OpId::fused && !def.view && !def.needs_step && !def.has_effect;
  return is_simple && producer.phase == activation.phase && producer.path == activation.path;
}

bool Pays(const FusionView& view, const FusedPairs& pairs) {
  const auto together = view.Best(pairs.fused[0]);
  const auto first = view.Best(pairs.producer), second = view.Best(*pairs.readers[0]);
  if (!together || !first || !second) return together.has_value();
  return together->seconds < (first->seconds + second->seconds) * (1 - kLeastGain);
}

constexpr FusionPattern kActivationPatterns[] = {Pairs<FitsActivation, Pays>()};

}  // namespace

bool FuseActivations(Graph& graph, const PassContext& context) {
  return Fuse(graph, kActivationPatterns, context);
}

}  // namespace cgrun::passes
