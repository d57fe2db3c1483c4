#include "src/ops/builders.h"

#include <utility>

#include "src/ops/infer.h"
#include "src/ops/reduce.h"

namespace cgrun {

OpDef Described(OpText text) {
  OpDef def;
  def.name = std::move(text.name);
  def.summary = std::move(text.summary);
  def.details = std::move(text.details);
  return def;
}

OpDef ElementwiseOp(OpText text, GradientFunction gradient) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = gradient;
  def.in_place = {{0, 0}};
  return def;
}

OpDef ActivationOp(OpText text, GradientFunction gradient) {
  OpDef def = ElementwiseOp(std::move(text), gradient);
  def.activation = true;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef ElementwiseGradOp(const std::string& of, std::string_view reads, std::string details) {
  OpDef def = Described({of + "_grad", "Computes the gradient of " + of + ".", std::move(details)});
  def.inputs = {{std::string(reads), (reads == "y" ? "output of " : "input of ") + of},
                {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferSameAsInputs;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

OpDef LossOp(OpText text, std::vector<OperandDef> inputs, InferFunction infer,
             GradientFunction gradient, CostFunction cost) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kLoss;
  def.inputs = std::move(inputs);
  def.outputs = {{"loss", "scalar"}};
  def.infer = infer;
  def.gradient = gradient;
  def.cost = cost;
  return def;
}

OpDef LossGradOp(const std::string& of, std::string details, std::vector<OperandDef> inputs,
                 InferFunction infer, CostFunction cost) {
  OpDef def = Described({of + "_grad", "Computes the gradient of " + of + ".", std::move(details)});
  def.outputs = {{"d" + inputs[0].name, "gradient of the " + inputs[0].name}};
  def.inputs = std::move(inputs);
  def.inputs.push_back({"dloss", "gradient of the loss, a scalar"});
  def.infer = infer;
  def.cost = cost;
  def.in_place = {{0, 0}};
  return def;
}

void SetGradientsOfDifference(GradientContext& context, OpId grad, const Attributes& attributes) {
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i)) continue;
    context.SetInputGradient(
        i, context.Emit(grad, attributes,
                        {context.input(i), context.input(1 - i), context.output_gradient(0)},
                        i == 0 ? "grad" : "target_grad"));
  }
}

std::vector<OwnedTensor> OwnedOf(const ConvTensors& tensors, DType dtype) {
  const Shape& weight = tensors.weight;
  const int64_t taps = weight[2].size * weight[3].size;
  std::vector<OwnedTensor> owned = {{"weight",
                                     {dtype, weight},
                                     Role::kParameter,
                                     "he_normal",
                                     weight[1].size * taps,
                                     tensors.fan_out_channels * taps}};
  if (tensors.bias) {
    owned.push_back({"bias", {dtype, {tensors.filters}}, Role::kParameter, "zeros"});
  }
  return owned;
}

bool ExpectTensors(InferContext& context, const ConvTensors& tensors) {
  if (context.num_inputs() != (tensors.bias ? 3 : 2)) {
    context.Fail(std::string("reads x, weight") + (tensors.bias ? " and bias" : "") + ", not " +
                 std::to_string(context.num_inputs()) + " inputs");
    return false;
  }
  const DType dtype = context.dtype(0);
  if (!ExpectInput(context, 1, "weight", {dtype, tensors.weight})) return false;
  return !tensors.bias || ExpectInput(context, 2, "bias", {dtype, {tensors.filters}});
}

std::vector<TensorType> InferOutput(InferContext& context, const Shape& y) {
  if (CountElements(y) && CountElements(context.shape(1))) return {{context.dtype(0), y}};
  return context.Fail("an output " + y.ToString() + " with a weight " +
                      context.shape(1).ToString() + " is too large");
}

void SetBiasGradient(GradientContext& context) {
  if (context.num_inputs() < 3 || !context.needs_gradient(2)) return;
  const Attributes sum = Attributes::Of(ReduceAttributes{{0, 2, 3}, false});
  context.SetInputGradient(
      2, context.Emit(OpId::reduce_sum, sum, {context.output_gradient(0)}, "dbias"));
}

OpDef ConvOp(OpText text, std::string weight) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, channels, height, width]"},
                {"weight", std::move(weight)},
                {"bias", "[filters], owned; absent with `bias: false`", Arity::kOptional}};
  def.outputs = {{"y", "[N, filters, output height, output width]"}};
  def.narrow = Narrow::kAlways;
  return def;
}

}  // namespace cgrun
