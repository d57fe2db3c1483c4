// Defines adam and adamw. adam follows Kingma and Ba, "Adam: A method for stochastic optimization",
// 2015. adamw follows Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/optimizer.h"

namespace cgrun {

const AttributeSchema& AdamAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<AdamAttributes> builder;
    return AddMoments(AddOptimizerFields(builder)).Build();
  }();
  return schema;
}

const AttributeSchema& AdamwAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<AdamwAttributes> builder;
    return AddMoments(AddOptimizerFields(builder,
                                         "lr times this much of the parameter is taken "
                                         "from it, apart from its gradient"))
        .Build();
  }();
  return schema;
}

namespace op_def {
namespace {

template <class Attributes>
std::vector<TensorType> InferAdam(InferContext& context) {
  WarnOfNoEpsilon(context, context.attributes<Attributes>().epsilon);
  if (!CheckOptimizerInputs(context, 2) || !CheckStepCounter(context, 5)) return {};
  return std::vector<TensorType>(3, context.input(0));
}

std::vector<OwnedTensor> AdamOwned(InferContext& context) {
  return {{"m", context.input(0), Role::kOptimizerState},
          {"v", context.input(0), Role::kOptimizerState}};
}

OpCost AdamCost(const NodeSignature& node) { return {14 * node.inputs[0].shape.Elements()}; }

OpCost AdamwCost(const NodeSignature& node) { return {16 * node.inputs[0].shape.Elements()}; }

OpDef Moments(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
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
  def.owned = AdamOwned;
  def.in_place = {{0, 0}, {3, 1}, {4, 2}};
  def.updates = {{0, 0}, {3, 1}, {4, 2}};
  def.needs_step = true;
  return def;
}

}  // namespace

OpDef adam() {
  OpDef def = Moments(
      "adam", "Updates parameters by gradient descent with adaptive moments.",
      "g' = g + weight_decay·w (and the parameter's own regularisation); m = beta1·m + (1 - "
      "beta1)·g', v = beta2·v + (1 - beta2)·g'², from 0; w = w - lr·(m / (1 - beta1^t)) / (√(v / "
      "(1 - beta2^t)) + epsilon) at step t = 1, 2, … Computed in the parameter's type, bf16 in "
      "f32; on cuda in f64. PyTorch "
      "Adam.");
  def.schema = &AdamAttributes::Schema();
  def.infer = InferAdam<AdamAttributes>;
  def.cost = AdamCost;
  return def;
}

OpDef adamw() {
  OpDef def = Moments(
      "adamw", "Updates parameters as adam does, with weight decay apart from the gradient.",
      "w' = w - lr·weight_decay·w; g' = g (and the parameter's own regularisation); m = beta1·m + "
      "(1 - beta1)·g', v = beta2·v + (1 - beta2)·g'², from 0; w = w' - lr·(m / (1 - beta1^t)) / "
      "(√(v / (1 - beta2^t)) + epsilon) at step t = 1, 2, … Computed in the parameter's type, bf16 "
      "in f32; on cuda in f64. "
      "PyTorch AdamW.");
  def.schema = &AdamwAttributes::Schema();
  def.infer = InferAdam<AdamwAttributes>;
  def.cost = AdamwCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
