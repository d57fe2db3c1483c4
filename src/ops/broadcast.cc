// Defines broadcast, which repeats a tensor along its axes of size 1. The gradients of the
// reductions are made of broadcast, and its own gradient of reductions.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun {

const AttributeSchema& BroadcastAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<BroadcastAttributes>()
          .Add("shape", &BroadcastAttributes::shape, "shape of y, of the rank of x")
          .Internal()
          .Add("average", &BroadcastAttributes::average,
               "divide by the number of repetitions, as the gradient of a mean does")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferBroadcast(InferContext& context) {
  const auto& attributes = context.attributes<BroadcastAttributes>();
  const Shape& x = context.shape(0);
  if (attributes.average && !IsFloat(context.dtype(0))) return InferSameAsInput(context);
  bool fits = x.rank() == attributes.shape.rank();
  for (int axis = 0; fits && axis < x.rank(); ++axis) {
    fits = x[axis] == attributes.shape[axis] || x[axis] == Dim(1);
  }
  if (!fits || !CountElements(attributes.shape)) {
    return context.Fail("cannot repeat " + x.ToString() + " to " + attributes.shape.ToString());
  }
  return {{context.dtype(0), attributes.shape}};
}

void BroadcastGradient(GradientContext& context) {
  const Shape from = context.input_type(0).shape;
  const auto& attributes = context.attributes<BroadcastAttributes>();
  ReduceAttributes reduce;
  reduce.keep_dims = true;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] != attributes.shape[axis]) reduce.axes.push_back(axis);
  }
  if (reduce.axes.empty()) return context.SetInputGradient(0, context.output_gradient(0));
  const OpId op = attributes.average ? OpId::reduce_mean : OpId::reduce_sum;
  context.SetInputGradient(
      0, context.Emit(op, Attributes::Of(reduce), {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef broadcast() {
  OpDef def;
  def.name = "broadcast";
  def.summary = "Repeats a tensor along its axes of size 1.";
  def.details =
      "y[i] = x[i with 0 on the repeated axes], divided by the number of repetitions if `average`. "
      "ONNX Expand.";
  def.inputs = {{"x", "any tensor; of a floating-point type if `average`"}};
  def.outputs = {{"y", "of shape `shape`"}};
  def.schema = &BroadcastAttributes::Schema();
  def.infer = InferBroadcast;
  def.gradient = BroadcastGradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
