// neg: functions of one number that have gradients made of the arithmetic operators.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

OpDef Unary(std::string name, std::string summary, std::string details, GradientFunction gradient) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = gradient;
  def.in_place = {{0, 0}};
  return def;
}

void NegGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(OpId::neg, Attributes(), {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef neg() {
  return Unary("neg", "The negative of each element.",
               "y = -x: the sign is flipped, of 0 too. "
               "ONNX Neg.",
               NegGradient);
}

}  // namespace cgrun::op_def
