// Defines rmsprop. It follows Tieleman and Hinton, "Lecture 6.5: RMSProp", 2012. The centred form
// follows Graves, "Generating sequences with recurrent neural networks", 2013.
#include "src/ops/op_definitions.h"
#include "src/ops/optimizer.h"

namespace cgrun {

const AttributeSchema& RmspropAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<RmspropAttributes> builder;
    return AddOptimizerFields(builder)
        .Add("alpha", &RmspropAttributes::alpha,
             "part of the mean of squared gradients that is kept, less than 1")
        .AtLeast(0)
        .AtMost(kBelowOne)
        .Add("epsilon", &RmspropAttributes::epsilon, "added to what is divided by")
        .AtLeast(0)
        .Add("momentum", &RmspropAttributes::momentum,
             "part of the last step that is kept, less than 1; 0: none")
        .AtLeast(0)
        .AtMost(kBelowOne)
        .Add("centered", &RmspropAttributes::centered,
             "divide by the deviation of gradients, not by their root mean square")
        .Build();
  }();
  return schema;
}

namespace op_def {
namespace {

int StatesOf(const RmspropAttributes& attributes) {
  return 1 + (attributes.centered ? 1 : 0) + (attributes.momentum != 0 ? 1 : 0);
}

std::vector<TensorType> InferRmsprop(InferContext& context) {
  const auto& attributes = context.attributes<RmspropAttributes>();
  const int states = StatesOf(attributes);
  WarnOfNoEpsilon(context, attributes.epsilon);
  if (!CheckOptimizerInputs(context, states)) return {};
  return std::vector<TensorType>(static_cast<size_t>(1 + states), context.input(0));
}

std::vector<OwnedTensor> RmspropOwned(InferContext& context) {
  const auto& attributes = context.attributes<RmspropAttributes>();
  std::vector<OwnedTensor> owned = {{"v", context.input(0), Role::kOptimizerState}};
  if (attributes.centered) owned.push_back({"m", context.input(0), Role::kOptimizerState});
  if (attributes.momentum != 0) {
    owned.push_back({"momentum", context.input(0), Role::kOptimizerState});
  }
  return owned;
}

OpCost RmspropCost(const NodeSignature& node) {
  return {static_cast<int64_t>(5 + 3 * node.outputs.size()) * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef rmsprop() {
  OpDef def;
  def.name = "rmsprop";
  def.summary =
      "Updates parameters by gradients, divided by the root mean square of recent gradients.";
  def.details =
      "g' = g + weight_decay·w (and the parameter's own regularisation); v = alpha·v + (1 - "
      "alpha)·g'², from 0; d = g' / (√v + epsilon); centered: m = alpha·m + (1 - alpha)·g', from "
      "0, and √(v - m²) in the place of √v, 0 where rounding makes v less than m²; b = momentum·b "
      "+ d, from 0; w = w - lr·b. Computed in the parameter's type, bf16 in f32; on cuda in f64. "
      "PyTorch RMSprop.";
  def.usage = Usage::kOptimizer;
  def.inputs = {
      {"parameter", "w"},
      {"gradient", "g, type of the parameter"},
      {"learning_rate", "lr of this step, f64 scalar"},
      {"v", "mean of squared gradients"},
      {"m", "mean of gradients if centered, else b if momentum is not 0", Arity::kOptional},
      {"momentum", "b, if centered and momentum is not 0", Arity::kOptional}};
  def.outputs = {{"next", "the parameter after the step"},
                 {"v", "v after the step"},
                 {"m", "input 4 after the step"},
                 {"momentum", "input 5 after the step"}};
  def.schema = &RmspropAttributes::Schema();
  def.infer = InferRmsprop;
  def.owned = RmspropOwned;
  def.cost = RmspropCost;
  def.in_place = {{0, 0}, {3, 1}, {4, 2}, {5, 3}};
  def.updates = {{0, 0}, {3, 1}, {4, 2}, {5, 3}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
