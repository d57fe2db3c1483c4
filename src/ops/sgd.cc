// Defines sgd: stochastic gradient descent, with momentum if asked for.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/optimizer.h"

namespace cgrun {

const AttributeSchema& SgdAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<SgdAttributes> builder;
    return AddOptimizerFields(builder, kDecayInGradient, Rate::kRequired)
        .Add("momentum", &SgdAttributes::momentum,
             "part of the last step that is kept, less than 1; 0: none")
        .AtLeast(0)
        .AtMost(kBelowOne)
        .Add("nesterov", &SgdAttributes::nesterov,
             "step from where the momentum leads (Nesterov's momentum)")
        .Build();
  }();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferSgd(InferContext& context) {
  const auto& attributes = context.attributes<SgdAttributes>();
  const bool momentum = attributes.momentum != 0;
  if (attributes.nesterov && !momentum) {
    return context.Fail("`nesterov` needs a `momentum` that is not 0",
                        "for example `momentum: 0.9`");
  }
  if (!CheckOptimizerInputs(context, momentum ? 1 : 0)) return {};
  return std::vector<TensorType>(momentum ? 2 : 1, context.input(0));
}

std::vector<OwnedTensor> SgdOwned(InferContext& context) {
  if (context.attributes<SgdAttributes>().momentum == 0) return {};
  return {{"momentum", context.input(0), Role::kOptimizerState}};
}

OpCost SgdCost(const NodeSignature& node) {
  return {static_cast<int64_t>(2 + 2 * node.outputs.size()) * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef sgd() {
  OpDef def;
  def.name = "sgd";
  def.summary = "Updates parameters by stochastic gradient descent.";
  def.details =
      "g' = g + weight_decay·w (and the parameter's own regularisation); v = momentum·v + g', from "
      "0; w = w - lr·v, with nesterov w - lr·(g' + momentum·v). Computed in the parameter's type, "
      "bf16 in f32; on cuda in f64. "
      "PyTorch SGD without dampening.";
  def.usage = Usage::kOptimizer;
  def.inputs = {{"parameter", "w"},
                {"gradient", "g, type of the parameter"},
                {"learning_rate", "lr of this step, f64 scalar"},
                {"momentum", "v; if momentum is not 0", Arity::kOptional}};
  def.outputs = {{"next", "the parameter after the step"}, {"momentum", "v after the step"}};
  def.schema = &SgdAttributes::Schema();
  def.infer = InferSgd;
  def.owned = SgdOwned;
  def.cost = SgdCost;
  def.in_place = {{0, 0}, {3, 1}};
  def.updates = {{0, 0}, {3, 1}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
