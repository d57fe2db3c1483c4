// Defines gelu and its gradient. gelu falls and rises, so that the gradient needs the input.
#include "src/ops/gelu.h"

#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& GeluAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<GeluAttributes>()
          .Add("approximate", &GeluAttributes::approximate,
               "`none` takes the normal distribution itself, `tanh` a formula near it")
          .Choices({"none", "tanh"})
          .Build();
  return schema;
}

namespace op_def {
namespace {

// A function counts as one operation. The exact form takes a quotient, erfc and two products. The
// form by tanh takes five for u, four for the sigmoid and a product.
OpCost GeluCost(const NodeSignature& node) {
  const bool exact = node.attributes.As<GeluAttributes>().approximate == "none";
  return {(exact ? 4 : 10) * node.outputs[0].shape.Elements()};
}

// The exact form takes three for the distribution, four for x times the density, a sum and a
// product.
OpCost GeluGradCost(const NodeSignature& node) {
  const bool exact = node.attributes.As<GeluAttributes>().approximate == "none";
  return {(exact ? 9 : 19) * node.outputs[0].shape.Elements()};
}

}  // namespace

OpDef gelu() {
  OpDef def = ActivationOp(
      {"gelu", "Applies the Gaussian error linear unit.",
       "y = x·Φ(x), where Φ(x) = (1 + erf(x/√2))/2 is the normal distribution; with `approximate: "
       "tanh`, Φ(x) is (1 + tanh(√(2/π)·(x + 0.044715·x³)))/2. Small values keep their digits: no "
       "difference from 1 is taken. Infinities give their limits, inf and -0, a NaN stays a NaN. "
       "Hendrycks and Gimpel, 2016. PyTorch GELU; ONNX Gelu."},
      GradientFromInput<OpId::gelu_grad>);
  def.schema = &GeluAttributes::Schema();
  def.cost = GeluCost;
  return def;
}

OpDef gelu_grad() {
  OpDef def = ElementwiseGradOp(
      "gelu", "x",
      "dx = dy·(Φ(x) + x·Φ'(x)); Φ'(x) = e^(-x²/2)/√(2π) where Φ is the normal distribution. At "
      "infinities, the limits: dy and 0.");
  def.schema = &GeluAttributes::Schema();
  def.cost = GeluGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
