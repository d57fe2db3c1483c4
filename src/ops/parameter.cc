// Defines parameter, a view of a tensor that it owns: a learned value, or a constant.
#include "src/ops/parameter.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ParameterAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ParameterAttributes>()
          .Add("shape", &ParameterAttributes::shape,
               "all sizes of y, which has no batch axis: `[64, 1, 1]`, or `[]` for one number")
          .Required()
          .AtLeast(1)
          .Add("type", &ParameterAttributes::type,
               "number type of y; the precision of the run if none is given")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Only floats are learned.
std::vector<OwnedTensor> ParameterOwned(InferContext& context) {
  if (context.num_inputs() != 0) return {};
  const auto& attributes = context.attributes<ParameterAttributes>();
  const Role role = IsFloat(attributes.type) ? Role::kParameter : Role::kRunningStatistic;
  return {{"value", {attributes.type, Shape::Of(attributes.shape)}, role}};
}

std::vector<TensorType> InferParameter(InferContext& context) {
  const Shape shape = Shape::Of(context.attributes<ParameterAttributes>().shape);
  if (!CountElements(shape)) {
    return context.Fail("a value of shape " + shape.ToString() + " is too large");
  }
  if (!ExpectInput(context, 0, "value", {context.dtype(0), shape})) return {};
  return {context.input(0)};
}

void ParameterGradient(GradientContext& context) {
  context.SetInputGradient(0, context.output_gradient(0));
}

}  // namespace

OpDef parameter() {
  OpDef def;
  def.name = "parameter";
  def.summary = "Gives a tensor that it owns, learned or constant.";
  def.details =
      "y is the owned tensor itself, and nothing is copied. It is broadcast like any other "
      "operand. "
      "It reads nothing: give no `in:`. It starts at 0 unless `init` or the weights say otherwise. "
      "Floats are learned unless they are `frozen`; other types never change. ONNX Constant.";
  def.usage = Usage::kOperator;
  def.inputs = {{"value", "of shape `shape`, owned"}};
  def.outputs = {{"y", "of shape `shape`"}};
  def.schema = &ParameterAttributes::Schema();
  def.infer = InferParameter;
  def.owned = ParameterOwned;
  def.gradient = ParameterGradient;
  def.cost = NoOperations;
  def.in_place = {{0, 0}};
  def.view = true;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
