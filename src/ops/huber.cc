// Defines huber, smooth_l1 and their gradient. These losses are squared near the target and
// absolute far from it.
#include <string>

#include "src/ops/builders.h"
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
  if (value > 0) return InferPairLoss(context);
  return context.Fail(std::string("`") + name + "` must be more than 0",
                      "`absolute_error` is the loss without it");
}

std::vector<TensorType> InferHuber(InferContext& context) {
  return InferAbove(context, "delta", context.attributes<HuberAttributes>().delta);
}

std::vector<TensorType> InferSmoothL1(InferContext& context) {
  return InferAbove(context, "beta", context.attributes<SmoothL1Attributes>().beta);
}

void HuberGradient(GradientContext& context) {
  const HuberGradAttributes attributes{context.attributes<HuberAttributes>().delta, 1};
  SetGradientsOfDifference(context, OpId::huber_grad, Attributes::Of(attributes));
}

void SmoothL1Gradient(GradientContext& context) {
  const double beta = context.attributes<SmoothL1Attributes>().beta;
  SetGradientsOfDifference(context, OpId::huber_grad,
                           Attributes::Of(HuberGradAttributes{beta, 1 / beta}));
}

constexpr char kAdded[] =
    " Added in index order in f64 and rounded once; the loss of bf16 predictions is f32. ";

OpDef RobustLoss(OpText text, InferFunction infer, GradientFunction gradient) {
  return LossOp(std::move(text),
                {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}},
                infer, gradient, PerElement<5>);
}

}  // namespace

OpDef huber() {
  OpDef def = RobustLoss(
      {"huber", "Computes the squared error near the target and the absolute error far from it.",
       std::string("loss = mean over all elements of d²/2 where |d| is at most delta, else "
                   "delta·(|d| - delta/2); d = prediction - target.") +
           kAdded + "PyTorch HuberLoss."},
      InferHuber, HuberGradient);
  def.schema = &HuberAttributes::Schema();
  return def;
}

OpDef smooth_l1() {
  OpDef def = RobustLoss(
      {"smooth_l1", "Computes the absolute error, rounded off near the target.",
       std::string("loss = mean over all elements of d²/(2·beta) where |d| is less than beta, else "
                   "|d| - beta/2; d = prediction - target: `huber` divided by its delta.") +
           kAdded + "PyTorch SmoothL1Loss."},
      InferSmoothL1, SmoothL1Gradient);
  def.schema = &SmoothL1Attributes::Schema();
  return def;
}

OpDef huber_grad() {
  OpDef def = LossGradOp(
      "huber",
      "dprediction = scale·d·dloss / (number of elements), with d = prediction - target kept "
      "within -delta and delta.",
      {{"prediction", "input of the loss"}, {"target", "its target"}}, InferPairLossGrad,
      PerElement<5>);
  def.summary = "Computes the gradient of huber and smooth_l1.";
  def.schema = &HuberGradAttributes::Schema();
  def.in_place.push_back({1, 0});
  return def;
}

}  // namespace op_def
}  // namespace cgrun
