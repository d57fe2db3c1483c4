// Defines adagrad. It follows Duchi, Hazan and Singer, "Adaptive subgradient methods", 2011.
#include "src/ops/op_definitions.h"
#include "src/ops/optimizer.h"

namespace cgrun {

const AttributeSchema& AdagradAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<AdagradAttributes> builder;
    return AddOptimizerFields(builder)
        .Add("lr_decay", &AdagradAttributes::lr_decay,
             "lr is divided by 1 + this, times the steps so far")
        .AtLeast(0)
        .Add("initial_accumulator", &AdagradAttributes::initial_accumulator,
             "what the sum of squared gradients starts with")
        .AtLeast(0)
        .Add("epsilon", &AdagradAttributes::epsilon, "added to what is divided by")
        .AtLeast(0)
        .Build();
  }();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferAdagrad(InferContext& context) {
  const auto& attributes = context.attributes<AdagradAttributes>();
  if (attributes.initial_accumulator == 0) WarnOfNoEpsilon(context, attributes.epsilon);
  if (!CheckOptimizerInputs(context, 1) || !CheckStepCounter(context, 4)) return {};
  return std::vector<TensorType>(2, context.input(0));
}

std::vector<OwnedTensor> AdagradOwned(InferContext& context) {
  OwnedTensor sum{"sum", context.input(0), Role::kOptimizerState};
  const double initial = context.attributes<AdagradAttributes>().initial_accumulator;
  if (initial != 0) {
    sum.init = "constant";
    sum.init_args = {initial};
  }
  return {sum};
}

OpCost AdagradCost(const NodeSignature& node) { return {9 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef adagrad() {
  OpDef def;
  def.name = "adagrad";
  def.summary = "Updates parameters by gradients, divided by the root of the sum of their squares.";
  def.details =
      "g' = g + weight_decay·w (and the parameter's own regularisation); s = s + g'², from "
      "initial_accumulator; w = w - lr / (1 + (t - 1)·lr_decay)·g' / (√s + epsilon) at step t = 1, "
      "2, … Computed in the parameter's type, bf16 in f32; on cuda in f64. PyTorch Adagrad.";
  def.usage = Usage::kOptimizer;
  def.inputs = {{"parameter", "w"},
                {"gradient", "g, type of the parameter"},
                {"learning_rate", "lr of this step, f64 scalar"},
                {"sum", "s, sum of squared gradients"},
                {"step", "steps so far, int64 scalar: t - 1"}};
  def.outputs = {{"next", "the parameter after the step"}, {"sum", "s after the step"}};
  def.schema = &AdagradAttributes::Schema();
  def.infer = InferAdagrad;
  def.owned = AdagradOwned;
  def.cost = AdagradCost;
  def.in_place = {{0, 0}, {3, 1}};
  def.updates = {{0, 0}, {3, 1}};
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
