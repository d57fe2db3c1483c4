// sigmoid and tanh, and their gradients, which need the output alone.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

template <OpId kGradient>
void Gradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(kGradient, Attributes(), {context.output(0), context.output_gradient(0)},
                      "grad"));
}

// dx is linear in dy; of y, sigmoid's has the derivative dy·(1 - 2·y), tanh's -2·y·dy.
template <OpId kGradient>
void GradGradient(GradientContext& context) {
  const ValueId y = context.input(0), dy = context.input(1), g = context.output_gradient(0);
  const auto emit = [&](OpId op, std::vector<ValueId> inputs, const char* name) {
    return context.Emit(op, Attributes(), std::move(inputs), name);
  };
  if (context.needs_gradient(1)) context.SetInputGradient(1, emit(kGradient, {y, g}, "ddy"));
  if (!context.needs_gradient(0)) return;
  const ValueId product = emit(OpId::mul, {dy, g}, "product");
  const ValueId once = emit(OpId::mul, {product, y}, "once");
  const ValueId twice = emit(OpId::add, {once, once}, "twice");
  context.SetInputGradient(0, kGradient == OpId::sigmoid_grad
                                  ? emit(OpId::sub, {product, twice}, "dy")
                                  : emit(OpId::neg, {twice}, "dy"));
}

OpDef Squashing(std::string name, std::string summary, std::string details,
                GradientFunction gradient) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.bounded = true;
  return def;
}

OpDef SquashingGrad(const std::string& of, std::string details, GradientFunction gradient) {
  OpDef def;
  def.name = of + "_grad";
  def.summary = "Gradient of " + of + ".";
  def.details = std::move(details);
  def.inputs = {{"y", "output of " + of}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferSameAsInputs;
  def.gradient = gradient;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace

OpDef sigmoid() {
  return Squashing("sigmoid", "Logistic function.",
                   "y = 1 / (1 + e^-x), without overflow for any x. ONNX Sigmoid.",
                   Gradient<OpId::sigmoid_grad>);
}

OpDef sigmoid_grad() {
  return SquashingGrad("sigmoid", "dx = dy·y·(1 - y).", GradGradient<OpId::sigmoid_grad>);
}

OpDef tanh() {
  return Squashing("tanh", "Hyperbolic tangent.", "y = tanh x. ONNX Tanh.",
                   Gradient<OpId::tanh_grad>);
}

OpDef tanh_grad() {
  return SquashingGrad("tanh", "dx = dy·(1 - y²).", GradGradient<OpId::tanh_grad>);
}

}  // namespace cgrun::op_def
