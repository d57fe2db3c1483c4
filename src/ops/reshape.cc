// Defines reshape, a view: it gives the same elements in the same order under another shape.
#include "src/ops/reshape.h"

#include <optional>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ReshapeAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ReshapeAttributes>()
          .Add("shape", &ReshapeAttributes::shape,
               "sizes of y without the batch axis, which stays in front: what other programs write "
               "as [-1, 108] is [108]; one of them may be -1 and takes what is left")
          .Required()
          .Build();
  return schema;
}

ValueId EmitReshape(GradientContext& context, ValueId value, Shape shape) {
  if (context.graph().values[value].type.shape == shape) return value;
  return context.Emit(OpId::reshape, Attributes::Of(ReshapeAttributes{std::move(shape)}), {value},
                      "reshape");
}

namespace op_def {
namespace {

// Returns the axis whose size is −1. If there is none, returns −1; if there are two, returns
// nothing.
std::optional<int> OpenAxis(const Shape& shape) {
  int open = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != Dim(-1)) continue;
    if (open >= 0) return std::nullopt;
    open = axis;
  }
  return open;
}

// The dimension that makes `known`·dim equal `total`, or nothing.
std::optional<Dim> Missing(const Dim& total, const Dim& known) {
  if (known.size <= 0 || total.size % known.size != 0) return std::nullopt;
  if (known.batch && !total.batch) return std::nullopt;
  return Dim(total.size / known.size, total.batch && !known.batch);
}

std::vector<TensorType> InferReshape(InferContext& context) {
  Shape shape = context.attributes<ReshapeAttributes>().shape;
  const std::string wanted = shape.ToString();
  const std::optional<int> open = OpenAxis(shape);
  if (!open) return context.Fail("two sizes of " + wanted + " are -1", "one size can be left open");
  if (*open >= 0) shape[*open] = Dim(1);
  const std::optional<Dim> total = CountElements(context.shape(0)), known = CountElements(shape);
  const std::optional<Dim> missing = total && known ? Missing(*total, *known) : std::nullopt;
  if (!missing || (*open < 0 && *missing != Dim(1))) {
    const bool begins_open = shape.rank() > 2 && *open == 1;
    return context.Fail("cannot reshape " + context.shape(0).ToString() + " to " + wanted,
                        std::string("both must have the same number of elements") +
                            (begins_open ? "; the batch axis N stays in front by itself: leave "
                                           "the -1 out where it stands for the batch"
                                         : ""));
  }
  if (*open >= 0) shape[*open] = *missing;
  // This -1 stands behind the batch axis. In other programs, a -1 in front stands for the batch.
  if (*open == 1 && shape.rank() > 2 && shape[1] == Dim(1)) {
    context.Warn("the -1 stands for 1 here: this makes " + shape.ToString(),
                 "the batch axis N stays in front by itself: leave the -1 out where it stands for "
                 "the batch, or write 1");
  }
  return {{context.dtype(0), shape}};
}

void ReshapeGradient(GradientContext& context) {
  context.SetInputGradient(
      0, EmitReshape(context, context.output_gradient(0), context.input_type(0).shape));
}

}  // namespace

OpDef reshape() {
  OpDef def;
  def.name = "reshape";
  def.summary = "Gives the same elements another shape.";
  def.details = "y has the elements of x in row-major order; nothing is copied. ONNX Reshape.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "of shape `shape`"}};
  def.schema = &ReshapeAttributes::Schema();
  def.infer = InferReshape;
  def.gradient = ReshapeGradient;
  def.in_place = {{0, 0}};
  def.view = true;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
