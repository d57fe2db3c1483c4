// Fusion of activations: an operator and the activation that alone reads it become one node where
// the target has a kernel for the two that beats its kernels one by one.
#include "src/ir/op_def.h"
#include "src/passes/pass.h"
#include "src/passes/rewrite.h"

namespace cgrun::passes {
namespace {

constexpr double kLeastGain = 0.01;  // finer than this the estimates are not

int InputOfActivation(const Node& node) {
  return GetOpDef(node.op).activation && node.inputs.size() == 1 ? 0 : -1;
}

bool Fits(const Node& producer, const Node& activation) {
  const OpDef& def = GetOpDef(producer.op);
  const bool is_simple = producer.outputs.size() == 1 && producer.op != OpId::fused && !def.view &&
                         !def.needs_step && !def.has_effect;
  return is_simple && producer.phase == activation.phase && producer.path == activation.path;
}

Node Fused(const Node& producer, const Node& activation) {
  Node fused = activation;
  fused.op = OpId::fused;
  fused.attributes = Attributes();
  fused.inputs = producer.inputs;
  FusedOperator first{producer.op, producer.attributes, {}};
  for (size_t i = 0; i < producer.inputs.size(); ++i) {
    first.operands.push_back(static_cast<int>(i));
  }
  fused.body = {first, {activation.op, activation.attributes, {-1}}};
  return fused;
}

bool Pays(const Graph& graph, const Node& producer, const Node& activation, const Node& fused,
          const PassContext& context) {
  const auto together = BestSeconds(graph, fused, context);
  const auto first = BestSeconds(graph, producer, context);
  const auto second = BestSeconds(graph, activation, context);
  return together && (!first || !second || *together < (*first + *second) * (1 - kLeastGain));
}

}  // namespace

bool FuseActivations(Graph& graph, const PassContext& context) {
  return FusePairs(graph, {InputOfActivation, Fits, Fused, Pays}, context);
}

}  // namespace cgrun::passes
