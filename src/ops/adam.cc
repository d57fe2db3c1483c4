// adam: Kingma and Ba, "Adam: A method for stochastic optimization", 2015.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/optimizer.h"

namespace cgrun {

const AttributeSchema& AdamAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<AdamAttributes> builder;
    return AddOptimizerFields(builder)
        .Add("beta1", &AdamAttributes::beta1,
             "part of the mean of gradients that is kept, less than 1")
        .AtLeast(0)
        .Add("beta2", &AdamAttributes::beta2,
             "part of the mean of squared gradients that is kept, less than 1")
        .AtLeast(0)
        .Add("epsilon", &AdamAttributes::epsilon, "added to what is divided by")
        .AtLeast(0)
        .Build();
  }();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) {
  const auto& attributes = context.attributes<AdamAttributes>();
  if (attributes.beta1 >= 1) return context.Fail("`beta1` must be less than 1");
  if (attributes.beta2 >= 1) return context.Fail("`beta2` must be less than 1");
  if (!CheckOptimizerInputs(context, 2)) return {};
  if (context.input(5) != TensorType{DType::kI64, Shape()}) {
    return context.Fail("needs a step counter int64[], not " + context.input(5).ToString());
  }
  return std::vector<TensorType>(3, context.input(0));
}

std::vector<OwnedTensor> Owned(InferContext& context) {
  return {{"m", context.input(0), Role::kOptimizerState},
          {"v", context.input(0), Role::kOptimizerState}};
}

OpCost Cost(const NodeSignature& node) { return {14 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef adam() {
  OpDef def;
  def.name = "adam";
  def.summary = "Gradient descent with adaptive moments.";
  def.details =
      "g' = g + weight_decay·w (and the parameter's own regularisation); m = beta1·m + (1 - "
      "beta1)·g', v = beta2·v + (1 - beta2)·g'², from 0; w = w - lr·(m / (1 - beta1^t)) / (√(v / "
      "(1 "
      "- beta2^t)) + epsilon) at step t = 1, 2, … Computed in f64 and rounded once. PyTorch Adam.";
  def.usage = Usage::kOptimizer;
  def.inputs = {{"parameter", "w"},
                {"gradient", "g, type of the parameter"},
                {"learning_rate", "lr of this step, f64 scalar"},
                {"m", "mean of gradients"},
                {"v", "mean of squared gradients"},
                {"step", "steps so far, int64 scalar: t - 1"}};
  def.outputs = {{"next", "the parameter after the step"},
                 {"m", "m after the step"},
                 {"v", "v after the step"}};
  def.schema = &AdamAttributes::Schema();
  def.infer = Infer;
  def.owned = Owned;
  def.cost = Cost;
  def.in_place = {{0, 0}, {3, 1}, {4, 2}};
  def.updates = {{0, 0}, {3, 1}, {4, 2}};
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
