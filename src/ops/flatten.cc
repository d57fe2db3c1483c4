// Defines flatten, a view of a tensor as a matrix.
#include "src/ops/flatten.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reshape.h"

namespace cgrun {

const AttributeSchema& FlattenAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<FlattenAttributes>()
          .Add("axis", &FlattenAttributes::axis,
               "first of the axes that become the columns, the batch axis being 0; negative ones "
               "count from the last")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferFlatten(InferContext& context) {
  const Shape& x = context.shape(0);
  int64_t axis = context.attributes<FlattenAttributes>().axis;
  if (axis < 0) axis += x.rank();
  if (axis < 0 || axis > x.rank()) {
    return context.Fail("axis " + std::to_string(context.attributes<FlattenAttributes>().axis) +
                        " does not fit " + x.ToString() + ": it must be in [" +
                        std::to_string(-x.rank()) + ", " + std::to_string(x.rank()) + "]");
  }
  const auto middle = x.begin() + axis;
  const auto rows = CountElements(Shape(std::vector<Dim>(x.begin(), middle)));
  const auto columns = CountElements(Shape(std::vector<Dim>(middle, x.end())));
  if (!rows || !columns) return context.Fail("cannot count the elements of " + x.ToString());
  return {{context.dtype(0), Shape{*rows, *columns}}};
}

void FlattenGradient(GradientContext& context) {
  context.SetInputGradient(
      0, EmitReshape(context, context.output_gradient(0), context.input_type(0).shape));
}

}  // namespace

OpDef flatten() {
  OpDef def;
  def.name = "flatten";
  def.summary = "Reshapes a tensor into a matrix.";
  def.details =
      "The axes before `axis` become the rows, the others the columns: [N, 4, 5, 5] becomes "
      "[N, 100]. With axis 0, the samples become one row. Nothing is copied. ONNX Flatten.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "two-dimensional"}};
  def.schema = &FlattenAttributes::Schema();
  def.infer = InferFlatten;
  def.gradient = FlattenGradient;
  def.in_place = {{0, 0}};
  def.view = true;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
