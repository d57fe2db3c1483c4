// absolute_error: a loss of regressions that outliers move little, and its gradient.
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) { return InferLoss(context, CheckPair); }
std::vector<TensorType> InferGrad(InferContext& context) {
  return InferLossGrad(context, CheckPair);
}

// The loss is symmetric: the target's gradient is the prediction's with both exchanged.
void Gradient(GradientContext& context) {
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i)) continue;
    context.SetInputGradient(
        i, context.Emit(OpId::absolute_error_grad, Attributes(),
                        {context.input(i), context.input(1 - i), context.output_gradient(0)},
                        i == 0 ? "grad" : "target_grad"));
  }
}

OpCost Cost(const NodeSignature& node) { return {3 * node.inputs[0].shape.Elements()}; }
OpCost GradCost(const NodeSignature& node) { return {2 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef absolute_error() {
  OpDef def;
  def.name = "absolute_error";
  def.summary = "Mean absolute error.";
  def.details =
      "loss = mean over all elements of |prediction - target|, added in index order in f64 and "
      "rounded once; the loss of bf16 tensors is f32. PyTorch L1Loss.";
  def.usage = Usage::kLoss;
  def.inputs = {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}};
  def.outputs = {{"loss", "scalar"}};
  def.infer = Infer;
  def.gradient = Gradient;
  def.cost = Cost;
  return def;
}

OpDef absolute_error_grad() {
  OpDef def;
  def.name = "absolute_error_grad";
  def.summary = "Gradient of absolute_error.";
  def.details =
      "dprediction = sign(prediction - target)·dloss / (number of elements); 0 where both are "
      "equal, NaN where the difference is.";
  def.inputs = {{"prediction", "input of absolute_error"},
                {"target", "its other input"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dprediction", "gradient of the prediction"}};
  def.infer = InferGrad;
  def.cost = GradCost;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

}  // namespace cgrun::op_def
