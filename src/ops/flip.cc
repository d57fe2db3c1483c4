// Defines flip, which makes axes run backwards. It is its own gradient.
#include "src/ops/flip.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& FlipAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<FlipAttributes>()
          .Add("axes", &FlipAttributes::axes,
               "axes that run backwards, the batch axis, 0, excepted; negative ones count from the "
               "last: -1 exchanges left and right of an image")
          .Required()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferFlip(InferContext& context) {
  const IntList& wanted = context.attributes<FlipAttributes>().axes;
  if (wanted.empty()) return context.Fail("`axes` is empty");
  const auto axes = NormalizeAxes(wanted, context.shape(0).rank());
  if (!axes) return context.Fail(AxesMessage(wanted, context.shape(0)));
  for (int axis : *axes) {
    if (context.shape(0)[axis].batch) return context.Fail("the batch axis cannot be flipped");
  }
  return {context.input(0)};
}

void FlipGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(OpId::flip, context.node().attributes, {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef flip() {
  OpDef def;
  def.name = "flip";
  def.summary = "Reverses the elements along axes.";
  def.details =
      "y[…, i, …] = x[…, size - 1 - i, …] on each of `axes`, in every sample and step. NumPy flip; "
      "ONNX Slice with steps of -1.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &FlipAttributes::Schema();
  def.infer = InferFlip;
  def.gradient = FlipGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kAnywhere;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
