// Defines binary_cross_entropy and its gradient: the loss of yes-or-no questions, from logits or
// probabilities.
#include "src/ops/builders.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> PredictionSchema() {
  SchemaBuilder<T> builder;
  builder.Add("from_logits", &T::from_logits,
              "whether the prediction is logits; else it is probabilities, from 0 to 1");
  return builder;
}

}  // namespace

const AttributeSchema& BinaryCrossEntropyAttributes::Schema() {
  static const AttributeSchema schema = PredictionSchema<BinaryCrossEntropyAttributes>().Build();
  return schema;
}

const AttributeSchema& BinaryCrossEntropyGradAttributes::Schema() {
  static const AttributeSchema schema =
      PredictionSchema<BinaryCrossEntropyGradAttributes>()
          .Add("of_target", &BinaryCrossEntropyGradAttributes::of_target,
               "whether the gradient is that of the target, not of the prediction")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferBinaryCrossEntropyGrad(InferContext& context) {
  const std::vector<TensorType> prediction = InferTargetLossGrad(context);
  const bool of_target = context.attributes<BinaryCrossEntropyGradAttributes>().of_target;
  if (context.failed() || !of_target || IsFloat(context.dtype(1))) return prediction;
  return context.Fail("a target " + context.input(1).ToString() + " has no gradient");
}

void BinaryCrossEntropyGradient(GradientContext& context) {
  const bool from_logits = context.attributes<BinaryCrossEntropyAttributes>().from_logits;
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i) || !IsFloat(context.input_type(i).dtype)) continue;
    const BinaryCrossEntropyGradAttributes attributes{from_logits, i == 1};
    context.SetInputGradient(
        i, context.Emit(OpId::binary_cross_entropy_grad, Attributes::Of(attributes),
                        {context.input(0), context.input(1), context.output_gradient(0)},
                        i == 0 ? "grad" : "target_grad"));
  }
}

std::optional<OpId> Applied(const Attributes& attributes) {
  const bool applies = attributes.As<BinaryCrossEntropyAttributes>().from_logits;
  return applies ? std::optional(OpId::sigmoid) : std::nullopt;
}

}  // namespace

OpDef binary_cross_entropy() {
  OpDef def = LossOp(
      {"binary_cross_entropy",
       "Computes the cross-entropy of yes-or-no predictions against targets from 0 to 1.",
       "loss = mean over all elements of -t·ln p - (1 - t)·ln(1 - p), in f64, added in index order "
       "and rounded once; the loss of bf16 predictions is f32. p = sigmoid(x) of a logit x: then "
       "it "
       "is computed as max(x, 0) - t·x + log(1 + e^-|x|), which does not overflow, and is to be "
       "preferred. With `from_logits: false` the prediction is p itself: a logarithm counts as "
       "-100 "
       "at least, and dp = (p - t) / (p·(1 - p)) is divided by 10^-12 at least, as in PyTorch's "
       "BCELoss; a p outside [0, 1] makes both NaN. A target is a probability, or bool or an "
       "integer: 0 for no, 1 for yes; any other integer makes the loss NaN, and its gradient. "
       "PyTorch BCEWithLogitsLoss and BCELoss; Keras BinaryCrossentropy."},
      {{"prediction", "logits, or probabilities, of any shape"},
       {"target", "shape of the prediction; its type, bool or an integer type"}},
      InferTargetLoss, BinaryCrossEntropyGradient, PerElement<7>);
  def.schema = &BinaryCrossEntropyAttributes::Schema();
  def.labels = Labels::kBinary;
  def.applies = Applied;
  return def;
}

OpDef binary_cross_entropy_grad() {
  OpDef def = LossGradOp(
      "binary_cross_entropy",
      "dx = s·dloss / (number of elements). Of logits, s = sigmoid(x) - t; of probabilities, s = "
      "(p - t) / max(p·(1 - p), 10^-12); of the target, s = ln(1 - p) - ln p, which of logits is "
      "-x. NaN for integer targets other than 0 and 1.",
      {{"prediction", "input of binary_cross_entropy"}, {"target", "its targets"}},
      InferBinaryCrossEntropyGrad, PerElement<5>);
  def.outputs = {{"dx", "gradient of the prediction, or of the target"}};
  def.schema = &BinaryCrossEntropyGradAttributes::Schema();
  return def;
}

}  // namespace op_def
}  // namespace cgrun
