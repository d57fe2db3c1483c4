// leaky_relu and its gradient, which needs the output alone where the slope is not negative.
#include "src/ops/leaky_relu.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& LeakyReluAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<LeakyReluAttributes>()
          .Add("slope", &LeakyReluAttributes::slope, "factor of negative elements")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// y is positive where x is, unless the slope is negative.
void Gradient(GradientContext& context) {
  const bool from_output = context.attributes<LeakyReluAttributes>().slope >= 0;
  const ValueId sign = from_output ? context.output(0) : context.input(0);
  context.SetInputGradient(0, context.Emit(OpId::leaky_relu_grad, context.node().attributes,
                                           {sign, context.output_gradient(0)}, "grad"));
}

// The sign of t does not change with it.
void GradGradient(GradientContext& context) {
  if (!context.needs_gradient(1)) return;
  context.SetInputGradient(1, context.Emit(OpId::leaky_relu_grad, context.node().attributes,
                                           {context.input(0), context.output_gradient(0)}, "ddy"));
}

}  // namespace

OpDef leaky_relu() {
  OpDef def;
  def.name = "leaky_relu";
  def.summary = "Rectified linear unit that lets a part of negative elements through.";
  def.details = "y = x where x ≥ 0, else slope·x; a NaN stays a NaN. ONNX LeakyRelu.";
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &LeakyReluAttributes::Schema();
  def.infer = InferSameAsInput;
  def.gradient = Gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef leaky_relu_grad() {
  OpDef def;
  def.name = "leaky_relu_grad";
  def.summary = "Gradient of leaky_relu.";
  def.details = "dx = dy where t > 0, else slope·dy.";
  def.inputs = {{"t", "output of leaky_relu, or its input where the slope is negative"},
                {"dy", "gradient of the output"}};
  def.outputs = {{"dx", "gradient of the input"}};
  def.schema = &LeakyReluAttributes::Schema();
  def.infer = InferSameAsInputs;
  def.gradient = GradGradient;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
