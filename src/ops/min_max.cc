// Defines min and max of two operands, broadcast as NumPy and ONNX do, and their gradient.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun::op_def {
namespace {

void SetReduced(GradientContext& context, int input, ValueId larger, ValueId smaller) {
  const ValueId gradient =
      context.Emit(OpId::max_grad, Attributes(), {larger, smaller, context.output_gradient(0)},
                   input == 0 ? "da" : "db");
  context.SetInputGradient(input,
                           ReduceToShape(context, gradient, context.input_type(input).shape));
}

void MaxGradient(GradientContext& context) {
  for (int i : {0, 1}) {
    if (context.needs_gradient(i)) SetReduced(context, i, context.input(i), context.input(1 - i));
  }
}

// a is the smaller one exactly if b is the larger.
void MinGradient(GradientContext& context) {
  for (int i : {0, 1}) {
    if (context.needs_gradient(i)) SetReduced(context, i, context.input(1 - i), context.input(i));
  }
}

OpDef Extremum(std::string name, std::string summary, std::string details,
               GradientFunction gradient) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "floats or integers, any shape"},
                {"b", "type of a, a shape that goes with a's"}};
  def.outputs = {{"y", "the broadcast shape"}};
  def.infer = InferBroadcastNumbers;
  def.gradient = gradient;
  def.in_place = {{0, 0}, {1, 0}};
  def.commutative = true;
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace

OpDef min() {
  return Extremum(
      "min", "Takes the smaller of two tensors, element by element.",
      "y = min(a, b); NaN where one is NaN; -0 is smaller than 0. Where a equals b, each "
      "gets half of the gradient, as in PyTorch's minimum; where one is NaN, both get "
      "all of it. `reduce_max` is for axes. ONNX Min.",
      MinGradient);
}

OpDef max() {
  return Extremum(
      "max", "Takes the larger of two tensors, element by element.",
      "y = max(a, b); NaN where one is NaN; 0 is larger than -0. Where a equals b, each "
      "gets half of the gradient, as in PyTorch's maximum; where one is NaN, both get "
      "all of it. `reduce_max` is for axes. ONNX Max.",
      MaxGradient);
}

OpDef max_grad() {
  OpDef def;
  def.name = "max_grad";
  def.summary = "Computes the gradient of max with respect to one operand, and of min.";
  def.details =
      "dx = 0 where larger < smaller, dy/2 where they are equal, else dy. The gradient of max(a, "
      "b) with respect to a has a as `larger`; that of min(a, b) has b.";
  def.inputs = {{"larger", "the operand that must be the larger one"},
                {"smaller", "the other one"},
                {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of the operand, before sums over what was broadcast"}};
  def.infer = InferBroadcastGrad;
  def.in_place = {{2, 0}, {0, 0}, {1, 0}};
  return def;
}

}  // namespace cgrun::op_def
