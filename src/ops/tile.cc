// Defines tile, which puts copies of a tensor side by side, and expand, which repeats axes of
// size 1. Their gradients are sums.
#include "src/ops/tile.h"

#include <utility>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"

namespace cgrun {

const AttributeSchema& TileAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<TileAttributes>()
          .Add("repeats", &TileAttributes::repeats,
               "how often x is repeated along each axis, 1 for the batch axis")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Build();
  return schema;
}

const AttributeSchema& ExpandAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ExpandAttributes>()
          .Add("sizes", &ExpandAttributes::sizes,
               "sizes of the axes of y, from the last one on; 1 keeps that of x, 0 is the batch")
          .Required()
          .AtLeast(0)
          .AtMost(1 << 30)
          .Add("batch", &ExpandAttributes::batch, "size of the batch axis")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferTile(InferContext& context) {
  const IntList& repeats = context.attributes<TileAttributes>().repeats;
  Shape y = context.shape(0);
  if (static_cast<int>(repeats.size()) != y.rank()) {
    return context.Fail("`repeats` " + ToString(AttributeValue(repeats)) +
                        " must have a number for each axis of " + y.ToString());
  }
  for (int axis = 0; axis < y.rank(); ++axis) {
    const int64_t count = repeats[static_cast<size_t>(axis)];
    if (y[axis].batch && count != 1) return context.Fail("the batch axis cannot be repeated");
    if (y[axis].size > (int64_t{1} << 48) / count) {
      return context.Fail("repeats axis " + std::to_string(axis) + " too often");
    }
    y[axis].size *= count;
  }
  if (!CountElements(y)) return context.Fail("the result " + y.ToString() + " is too large");
  return {{context.dtype(0), y}};
}

// Each axis that is repeated becomes two, and the first of them is added up.
void TileGradient(GradientContext& context) {
  const IntList& repeats = context.attributes<TileAttributes>().repeats;
  const Shape x = context.input_type(0).shape;
  Shape apart;
  ReduceAttributes reduce;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t count = repeats[static_cast<size_t>(axis)];
    if (count > 1) {
      reduce.axes.push_back(apart.rank());
      apart.dims().push_back(Dim(count));
    }
    apart.dims().push_back(x[axis]);
  }
  const ValueId dy = context.output_gradient(0);
  if (reduce.axes.empty()) return context.SetInputGradient(0, dy);
  context.SetInputGradient(0, context.Emit(OpId::reduce_sum, Attributes::Of(reduce),
                                           {EmitReshape(context, dy, apart)}, "dx"));
}

std::vector<TensorType> InferExpand(InferContext& context) {
  Shape sizes;
  const auto& attributes = context.attributes<ExpandAttributes>();
  for (const int64_t size : attributes.sizes) {
    sizes.dims().push_back(size == 0 ? attributes.batch[0] : Dim(size));
  }
  const auto y = BroadcastShapes(context.shape(0), sizes);
  if (!y) {
    return context.Fail("cannot repeat " + context.shape(0).ToString() + " to " + sizes.ToString(),
                        "from the last axis on, dimensions must be equal or 1");
  }
  if (!CountElements(*y)) return context.Fail("the result " + y->ToString() + " is too large");
  return {{context.dtype(0), *y}};
}

void ExpandGradient(GradientContext& context) {
  context.SetInputGradient(
      0, ReduceToShape(context, context.output_gradient(0), context.input_type(0).shape));
}

OpDef Repetition(OpText text) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

}  // namespace

OpDef tile() {
  OpDef def = Repetition({"tile", "Puts copies of a tensor side by side.",
                          "y[…, i, …] = x[…, i mod size, …] on each axis. ONNX Tile; NumPy tile."});
  def.outputs = {{"y", "shape of x, each size times its repetitions"}};
  def.schema = &TileAttributes::Schema();
  def.infer = InferTile;
  def.gradient = TileGradient;
  return def;
}

OpDef expand() {
  OpDef def = Repetition(
      {"expand", "Repeats a tensor along its axes of size 1, and along new leading axes.",
       "y is x, broadcast to the shape that x and `sizes` have together by NumPy's rules. ONNX "
       "Expand."});
  def.outputs = {{"y", "the common shape of x and `sizes`"}};
  def.schema = &ExpandAttributes::Schema();
  def.infer = InferExpand;
  def.gradient = ExpandGradient;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
