// softplus and its gradient, which needs the output alone.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

void Gradient(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(OpId::softplus_grad, Attributes(),
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}

}  // namespace

OpDef softplus() {
  OpDef def;
  def.name = "softplus";
  def.summary = "Smooth rectifier.";
  def.details = "y = log(1 + e^x), without overflow for any x. ONNX Softplus.";
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferSameAsInput;
  def.gradient = Gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef softplus_grad() {
  OpDef def;
  def.name = "softplus_grad";
  def.summary = "Gradient of softplus.";
  def.details = "dx = dy·(1 - e^-y), which is dy·sigmoid(x).";
  def.inputs = {{"y", "output of softplus"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferSameAsInputs;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace cgrun::op_def
