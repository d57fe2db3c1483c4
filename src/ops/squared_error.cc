// squared_error: the loss of a regression, and its gradient.
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
        i, context.Emit(OpId::squared_error_grad, Attributes(),
                        {context.input(i), context.input(1 - i), context.output_gradient(0)},
                        i == 0 ? "grad" : "target_grad"));
  }
}

OpCost Cost(const NodeSignature& node) { return {3 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef squared_error() {
  OpDef def;
  def.name = "squared_error";
  def.summary = "Mean squared error.";
  def.details =
      "loss = mean over all elements of (prediction - target)², added in index order in f64 and "
      "rounded once; the loss of bf16 tensors is f32. PyTorch MSELoss.";
  def.usage = Usage::kLoss;
  def.inputs = {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}};
  def.outputs = {{"loss", "scalar"}};
  def.infer = Infer;
  def.gradient = Gradient;
  def.cost = Cost;
  return def;
}

OpDef squared_error_grad() {
  OpDef def;
  def.name = "squared_error_grad";
  def.summary = "Gradient of squared_error.";
  def.details = "dprediction = 2·(prediction - target)·dloss / (number of elements).";
  def.inputs = {{"prediction", "input of squared_error"},
                {"target", "its other input"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dprediction", "gradient of the prediction"}};
  def.infer = InferGrad;
  def.cost = Cost;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

}  // namespace cgrun::op_def
