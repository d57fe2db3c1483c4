// Defines sigmoid and tanh, and their gradients, which need the output alone.
#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

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

}  // namespace

OpDef sigmoid() {
  OpDef def = ActivationOp({"sigmoid", "Applies the logistic function.",
                            "y = 1 / (1 + e^-x), without overflow for any x. ONNX Sigmoid."},
                           GradientFromResult<OpId::sigmoid_grad>);
  def.bounded = true;
  return def;
}

OpDef sigmoid_grad() {
  OpDef def = ElementwiseGradOp("sigmoid", "y", "dx = dy·y·(1 - y).");
  def.gradient = GradGradient<OpId::sigmoid_grad>;
  return def;
}

OpDef tanh() {
  OpDef def = ActivationOp({"tanh", "Applies the hyperbolic tangent.", "y = tanh x. ONNX Tanh."},
                           GradientFromResult<OpId::tanh_grad>);
  def.bounded = true;
  return def;
}

OpDef tanh_grad() {
  OpDef def = ElementwiseGradOp("tanh", "y", "dx = dy·(1 - y²).");
  def.gradient = GradGradient<OpId::tanh_grad>;
  return def;
}

}  // namespace cgrun::op_def
