// Defines cast, which gives the same numbers in another number type.
#include "src/ops/cast.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& CastAttributes::Schema() {
  static const AttributeSchema schema = SchemaBuilder<CastAttributes>()
                                            .Add("to", &CastAttributes::to, "number type of y")
                                            .Required()
                                            .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferCast(InferContext& context) {
  return {{context.attributes<CastAttributes>().to, context.shape(0)}};
}

// Only casts between floating-point types have a gradient: elsewhere the function is flat.
void CastGradient(GradientContext& context) {
  const DType from = context.input_type(0).dtype;
  if (!IsFloat(from) || !IsFloat(context.attributes<CastAttributes>().to)) return;
  context.SetInputGradient(0, context.Emit(OpId::cast, Attributes::Of(CastAttributes{from}),
                                           {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef cast() {
  OpDef def;
  def.name = "cast";
  def.summary = "Converts to another number type.";
  def.details =
      "Floating-point types round to nearest, ties to even (bf16 by way of f32). From "
      "floating-point "
      "to integer, the fraction is cut off, what is beyond the type takes its nearest bound, NaN "
      "becomes 0. An integer that does not fit an integer type wraps around. To bool: whether x is "
      "not 0. ONNX Cast.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "shape of x, of type `to`"}};
  def.schema = &CastAttributes::Schema();
  def.infer = InferCast;
  def.gradient = CastGradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
