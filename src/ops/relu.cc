// relu and its gradient, which needs the output alone.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

void Gradient(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(OpId::relu_grad, Attributes(),
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}

// Where y is positive does not change with it.
void GradGradient(GradientContext& context) {
  if (!context.needs_gradient(1)) return;
  context.SetInputGradient(1, context.Emit(OpId::relu_grad, Attributes(),
                                           {context.input(0), context.output_gradient(0)}, "ddy"));
}

}  // namespace

OpDef relu() {
  OpDef def;
  def.name = "relu";
  def.summary = "Rectified linear unit.";
  def.details = "y = max(x, 0); a NaN stays a NaN. ONNX Relu.";
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = Gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef relu_grad() {
  OpDef def;
  def.name = "relu_grad";
  def.summary = "Gradient of relu.";
  def.details = "dx = dy where y > 0, else 0.";
  def.inputs = {{"y", "output of relu"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferSameAsInputs;
  def.gradient = GradGradient;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace cgrun::op_def
