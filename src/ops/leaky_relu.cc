// Defines leaky_relu and its gradient. If the slope is not negative, the gradient needs the output
// alone.
#include "src/ops/leaky_relu.h"

#include "src/ops/builders.h"
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
void LeakyReluGradient(GradientContext& context) {
  const bool from_output = context.attributes<LeakyReluAttributes>().slope >= 0;
  const ValueId sign = from_output ? context.output(0) : context.input(0);
  context.SetInputGradient(0, context.Emit(OpId::leaky_relu_grad, context.node().attributes,
                                           {sign, context.output_gradient(0)}, "grad"));
}

}  // namespace

OpDef leaky_relu() {
  OpDef def = ActivationOp(
      {"leaky_relu", "Scales negative elements by a slope (the leaky rectified linear unit).",
       "y = x where x ≥ 0, else slope·x; a NaN stays a NaN. ONNX LeakyRelu."},
      LeakyReluGradient);
  def.schema = &LeakyReluAttributes::Schema();
  def.moves = Moves::kWithin;
  return def;
}

// The sign of t does not change with it.
OpDef leaky_relu_grad() {
  OpDef def = ElementwiseGradOp("leaky_relu", "y", "dx = dy where t > 0, else slope·dy.");
  def.inputs[0] = {"t", "output of leaky_relu, or its input where the slope is negative"};
  def.schema = &LeakyReluAttributes::Schema();
  def.gradient = GradientByDy<OpId::leaky_relu_grad>;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
