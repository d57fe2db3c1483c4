// Defines pow: two operands, broadcast as NumPy and ONNX do, and the gradients of both.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun::op_def {
namespace {

void SetReduced(GradientContext& context, int input, ValueId gradient) {
  context.SetInputGradient(input,
                           ReduceToShape(context, gradient, context.input_type(input).shape));
}

// The gradient does not use y/a, which is no number at 0.
void PowGradient(GradientContext& context) {
  const ValueId a = context.input(0), b = context.input(1), y = context.output(0);
  const ValueId dy = context.output_gradient(0);
  if (context.needs_gradient(0)) {
    SetReduced(context, 0, context.Emit(OpId::pow_base_grad, Attributes(), {a, b, dy}, "da"));
  }
  if (context.needs_gradient(1)) {
    SetReduced(context, 1, context.Emit(OpId::pow_exponent_grad, Attributes(), {a, y, dy}, "db"));
  }
}

// BaseGradCost counts a power, a difference and two products. ExponentGradCost counts a logarithm
// and two products.
OpCost BaseGradCost(const NodeSignature& node) { return {4 * node.outputs[0].shape.Elements()}; }
OpCost ExponentGradCost(const NodeSignature& node) {
  return {3 * node.outputs[0].shape.Elements()};
}

OpDef Grad(std::string name, std::string summary, std::string details, OperandDef second,
           CostFunction cost) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.inputs = {{"a", "base"}, std::move(second), {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of the operand, before sums over what was broadcast"}};
  def.infer = InferBroadcastGrad;
  def.cost = cost;
  def.in_place = {{2, 0}, {0, 0}, {1, 0}};
  return def;
}

}  // namespace

OpDef pow() {
  OpDef def;
  def.name = "pow";
  def.summary = "Raises a tensor to the power of another, element by element.";
  def.details =
      "y = a^b as C and IEEE 754 define it: a^0 and 1^b are 1, even for NaN; NaN for a negative a "
      "and a b that is no whole number. The gradient of a is b·a^(b - 1), and 0 where b is 0; that "
      "of b is y·ln a, and 0 where a is 0 and b is not negative, as in PyTorch. ONNX Pow.";
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "base, any shape"}, {"b", "exponent, a shape that goes with a's"}};
  def.outputs = {{"y", "the broadcast shape"}};
  def.infer = InferBroadcast;
  def.gradient = PowGradient;
  def.in_place = {{0, 0}, {1, 0}};
  def.finite_help = {
      "a negative power of 0 is infinite, and a power of a negative number that is no integer NaN",
      "its gradient is infinite at 0 where the power is below 1, and NaN below 0"};
  return def;
}

OpDef pow_base_grad() {
  return Grad("pow_base_grad", "Computes the gradient of pow with respect to the base.",
              "dx = dy·(b·a^(b - 1)), and 0 where b is 0.", {"b", "exponent"}, BaseGradCost);
}

OpDef pow_exponent_grad() {
  return Grad("pow_exponent_grad", "Computes the gradient of pow with respect to the exponent.",
              "dx = dy·(y·ln a), and 0 where a is 0 and y is 0 or 1.", {"y", "output of pow"},
              ExponentGradCost);
}

}  // namespace cgrun::op_def
