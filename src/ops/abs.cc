// abs and its gradient.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

void Gradient(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(OpId::abs_grad, Attributes(),
                                           {context.input(0), context.output_gradient(0)}, "grad"));
}

}  // namespace

OpDef abs() {
  OpDef def;
  def.name = "abs";
  def.summary = "The absolute value of each element.";
  def.details = "y = |x|: 0 for -0; a NaN stays a NaN. The gradient at 0 is 0. ONNX Abs.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = Gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef abs_grad() {
  OpDef def;
  def.name = "abs_grad";
  def.summary = "Gradient of abs.";
  def.details = "dx = dy where x > 0, -dy where x < 0, else 0 (for NaN too, as in PyTorch).";
  def.inputs = {{"x", "input of abs"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferSameAsInputs;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace cgrun::op_def
