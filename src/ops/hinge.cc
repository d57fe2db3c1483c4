// hinge: the loss of a classifier with a margin (a support vector machine), and its gradient.
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) { return InferLoss(context, CheckTargets); }
std::vector<TensorType> InferGrad(InferContext& context) {
  return InferLossGrad(context, CheckTargets);
}

// The loss depends on which side of 0 a target lies alone: none flows into it.
void Gradient(GradientContext& context) {
  if (!context.needs_gradient(0)) return;
  context.SetInputGradient(
      0, context.Emit(OpId::hinge_grad, Attributes(),
                      {context.input(0), context.input(1), context.output_gradient(0)}, "grad"));
}

OpCost Cost(const NodeSignature& node) { return {4 * node.inputs[0].shape.Elements()}; }
OpCost GradCost(const NodeSignature& node) { return {3 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef hinge() {
  OpDef def;
  def.name = "hinge";
  def.summary = "Hinge loss of scores against two classes.";
  def.details =
      "loss = mean over all elements of max(0, 1 - t·score), added in index order in f64 and "
      "rounded once; the loss of bf16 scores is f32. t is 1 for a target above 0 and -1 for any "
      "other, so that targets are -1 and 1, 0 and 1, or bool; a NaN makes the loss NaN. No "
      "gradient flows into targets. scikit-learn hinge_loss of two classes, Keras Hinge.";
  def.usage = Usage::kLoss;
  def.inputs = {{"scores", "any shape"},
                {"target", "shape of the scores; their type, bool or an integer type"}};
  def.outputs = {{"loss", "scalar"}};
  def.infer = Infer;
  def.gradient = Gradient;
  def.cost = Cost;
  return def;
}

OpDef hinge_grad() {
  OpDef def;
  def.name = "hinge_grad";
  def.summary = "Gradient of hinge.";
  def.details =
      "dscores = -t·dloss / (number of elements) where t·score is less than 1, else 0; NaN where "
      "t·score is.";
  def.inputs = {{"scores", "input of hinge"},
                {"target", "its targets"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dscores", "gradient of the scores"}};
  def.infer = InferGrad;
  def.cost = GradCost;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace cgrun::op_def
