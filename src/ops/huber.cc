// huber and smooth_l1: squared near the target, absolute far from it, and their gradient.
#include <string>

#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& HuberAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<HuberAttributes>()
          .Add("delta", &HuberAttributes::delta,
               "the difference up to which the loss is squared; more than 0")
          .AtLeast(0)
          .Build();
  return schema;
}

const AttributeSchema& SmoothL1Attributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<SmoothL1Attributes>()
          .Add("beta", &SmoothL1Attributes::beta,
               "the difference up to which the loss is squared; more than 0")
          .AtLeast(0)
          .Build();
  return schema;
}

const AttributeSchema& HuberGradAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<HuberGradAttributes>()
          .Add("delta", &HuberGradAttributes::delta, "that of huber, or beta of smooth_l1")
          .Internal()
          .Add("scale", &HuberGradAttributes::scale, "what the gradient of huber is multiplied by")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferAbove(InferContext& context, const char* name, double value) {
  if (value > 0) return InferLoss(context, CheckPair);
  return context.Fail(std::string("`") + name + "` must be more than 0",
                      "`absolute_error` is the loss without it");
}

std::vector<TensorType> InferHuber(InferContext& context) {
  return InferAbove(context, "delta", context.attributes<HuberAttributes>().delta);
}

std::vector<TensorType> InferSmoothL1(InferContext& context) {
  return InferAbove(context, "beta", context.attributes<SmoothL1Attributes>().beta);
}

std::vector<TensorType> InferGrad(InferContext& context) {
  return InferLossGrad(context, CheckPair);
}

// It is antisymmetric: the target's gradient is that of the prediction with the two exchanged.
void EmitGradients(GradientContext& context, const HuberGradAttributes& attributes) {
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i)) continue;
    context.SetInputGradient(
        i, context.Emit(OpId::huber_grad, Attributes::Of(attributes),
                        {context.input(i), context.input(1 - i), context.output_gradient(0)},
                        i == 0 ? "grad" : "target_grad"));
  }
}

void HuberGradient(GradientContext& context) {
  EmitGradients(context, {context.attributes<HuberAttributes>().delta, 1});
}

void SmoothL1Gradient(GradientContext& context) {
  const double beta = context.attributes<SmoothL1Attributes>().beta;
  EmitGradients(context, {beta, 1 / beta});
}

OpCost Cost(const NodeSignature& node) { return {5 * node.inputs[0].shape.Elements()}; }

constexpr char kAdded[] =
    " Added in index order in f64 and rounded once; the loss of bf16 predictions is f32. ";

OpDef RobustLoss(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kLoss;
  def.inputs = {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}};
  def.outputs = {{"loss", "scalar"}};
  def.cost = Cost;
  return def;
}

}  // namespace

OpDef huber() {
  OpDef def = RobustLoss(
      "huber", "Squared error near the target, absolute error far from it.",
      std::string("loss = mean over all elements of d²/2 where |d| is at most delta, else "
                  "delta·(|d| - delta/2); d = prediction - target.") +
          kAdded + "PyTorch HuberLoss.");
  def.schema = &HuberAttributes::Schema();
  def.infer = InferHuber;
  def.gradient = HuberGradient;
  return def;
}

OpDef smooth_l1() {
  OpDef def = RobustLoss(
      "smooth_l1", "Absolute error, rounded off near the target.",
      std::string("loss = mean over all elements of d²/(2·beta) where |d| is less than beta, else "
                  "|d| - beta/2; d = prediction - target: `huber` divided by its delta.") +
          kAdded + "PyTorch SmoothL1Loss.");
  def.schema = &SmoothL1Attributes::Schema();
  def.infer = InferSmoothL1;
  def.gradient = SmoothL1Gradient;
  return def;
}

OpDef huber_grad() {
  OpDef def;
  def.name = "huber_grad";
  def.summary = "Gradient of huber and smooth_l1.";
  def.details =
      "dprediction = scale·d·dloss / (number of elements), with d = prediction - target kept "
      "within -delta and delta.";
  def.inputs = {{"prediction", "input of the loss"},
                {"target", "its target"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dprediction", "gradient of the prediction"}};
  def.schema = &HuberGradAttributes::Schema();
  def.infer = InferGrad;
  def.cost = Cost;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
