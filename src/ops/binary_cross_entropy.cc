// binary_cross_entropy: the loss of yes-or-no questions, from their logits, and its gradient.
#include "src/ops/cast.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) { return InferLoss(context, CheckTargets); }
std::vector<TensorType> InferGrad(InferContext& context) {
  return InferLossGrad(context, CheckTargets);
}

// dtarget = −logits·dloss / (number of elements). Wanted where the target is learned too.
ValueId TargetGradient(GradientContext& context) {
  const TensorType type = context.input_type(1);
  ValueId share = context.output_gradient(0);
  if (context.graph().values[share].type.dtype != type.dtype) {
    share = context.Emit(OpId::cast, Attributes::Of(CastAttributes{type.dtype}), {share}, "dloss");
  }
  const Shape ones(std::vector<Dim>(static_cast<size_t>(type.shape.rank()), Dim(1)));
  share = EmitReshape(context, share, ones);
  const BroadcastAttributes mean{type.shape, true};
  share = context.Emit(OpId::broadcast, Attributes::Of(mean), {share}, "share");
  const ValueId product =
      context.Emit(OpId::mul, Attributes(), {context.input(0), share}, "product");
  return context.Emit(OpId::neg, Attributes(), {product}, "target_grad");
}

void Gradient(GradientContext& context) {
  if (context.needs_gradient(0)) {
    context.SetInputGradient(
        0, context.Emit(OpId::binary_cross_entropy_grad, Attributes(),
                        {context.input(0), context.input(1), context.output_gradient(0)}, "grad"));
  }
  if (IsFloat(context.input_type(1).dtype) && context.needs_gradient(1)) {
    context.SetInputGradient(1, TargetGradient(context));
  }
}

OpCost Cost(const NodeSignature& node) { return {7 * node.inputs[0].shape.Elements()}; }
OpCost GradCost(const NodeSignature& node) { return {5 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef binary_cross_entropy() {
  OpDef def;
  def.name = "binary_cross_entropy";
  def.summary = "Cross-entropy of sigmoid(logits) against targets from 0 to 1.";
  def.details =
      "loss = mean over all elements of -t·ln p - (1 - t)·ln(1 - p), where p = sigmoid(logit); "
      "computed as max(x, 0) - t·x + log(1 + e^-|x|) of the logit x, which does not overflow, in "
      "f64, added in index order and rounded once; the loss of bf16 logits is f32. A target is a "
      "probability, or bool or an integer: 0 for no, 1 for yes; any other integer makes the loss "
      "NaN, and its gradient. PyTorch BCEWithLogitsLoss.";
  def.usage = Usage::kLoss;
  def.inputs = {{"logits", "any shape"},
                {"target", "shape of the logits; their type, bool or an integer type"}};
  def.outputs = {{"loss", "scalar"}};
  def.infer = Infer;
  def.gradient = Gradient;
  def.cost = Cost;
  return def;
}

OpDef binary_cross_entropy_grad() {
  OpDef def;
  def.name = "binary_cross_entropy_grad";
  def.summary = "Gradient of binary_cross_entropy.";
  def.details =
      "dlogits = (sigmoid(logits) - target)·dloss / (number of elements); NaN for integer targets "
      "other than 0 and 1.";
  def.inputs = {{"logits", "input of binary_cross_entropy"},
                {"target", "its targets"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dlogits", "gradient of the logits"}};
  def.infer = InferGrad;
  def.cost = GradCost;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace cgrun::op_def
