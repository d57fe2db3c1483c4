// Defines add, sub, mul, div: two operands, broadcast as NumPy and ONNX do.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun::op_def {
namespace {

OpDef Binary(std::string name, std::string summary, std::string details,
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
  def.narrow = Narrow::kFollows;
  return def;
}

// Sets the gradient of an input that may have been broadcast.
void SetReduced(GradientContext& context, int input, ValueId gradient) {
  context.SetInputGradient(input,
                           ReduceToShape(context, gradient, context.input_type(input).shape));
}

void AddGradient(GradientContext& context) {
  for (int i : {0, 1}) {
    if (context.needs_gradient(i)) SetReduced(context, i, context.output_gradient(0));
  }
}

void SubGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  if (context.needs_gradient(0)) SetReduced(context, 0, dy);
  if (context.needs_gradient(1)) {
    SetReduced(context, 1, context.Emit(OpId::neg, Attributes(), {dy}, "db"));
  }
}

void MulGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i)) continue;
    SetReduced(context, i,
               context.Emit(OpId::mul, Attributes(), {dy, context.input(1 - i)}, i ? "db" : "da"));
  }
}

// da = dy / b; db = −da·y.
void DivGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  const ValueId da = context.Emit(OpId::div, Attributes(), {dy, context.input(1)}, "da");
  if (context.needs_gradient(0)) SetReduced(context, 0, da);
  if (context.needs_gradient(1)) {
    const ValueId product = context.Emit(OpId::mul, Attributes(), {da, context.output(0)}, "da_y");
    SetReduced(context, 1, context.Emit(OpId::neg, Attributes(), {product}, "db"));
  }
}

}  // namespace

OpDef add() {
  OpDef def =
      Binary("add", "Adds two tensors.", "y = a + b. Integers wrap around. ONNX Add.", AddGradient);
  def.commutative = true;
  return def;
}

OpDef sub() {
  return Binary("sub", "Subtracts one tensor from another.",
                "y = a - b. Integers wrap around. ONNX Sub.", SubGradient);
}

OpDef mul() {
  OpDef def = Binary("mul", "Multiplies two tensors, element by element.",
                     "y = a * b. Integers wrap around. ONNX Mul.", MulGradient);
  def.commutative = true;
  return def;
}

OpDef div() {
  OpDef def = Binary("div", "Divides one tensor by another, element by element.",
                     "y = a / b, as IEEE 754 divides. Integers: the fraction is cut off, and a "
                     "division by 0 gives "
                     "0. ONNX Div.",
                     DivGradient);
  def.finite_help = {"keep what it divides by away from 0",
                     "its gradient is infinite where it divides by 0: keep that away from 0"};
  return def;
}

}  // namespace cgrun::op_def
