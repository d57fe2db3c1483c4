// Defines gather_nd and scatter_nd, which read and write blocks at tuples of indices. Each is a
// part of the other's gradient.
#include "src/ops/builders.h"
#include "src/ops/fill.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> BatchDimsSchema() {
  SchemaBuilder<T> builder;
  builder
      .Add("batch_dims", &T::batch_dims,
           "number of leading axes that x and the indices share: 1 for a batch of samples, each "
           "with indices of its own")
      .AtLeast(0)
      .AtMost(8);
  return builder;
}

}  // namespace

const AttributeSchema& GatherNdAttributes::Schema() {
  static const AttributeSchema schema = BatchDimsSchema<GatherNdAttributes>()
                                            .Add("zero_outside", &GatherNdAttributes::zero_outside,
                                                 "0 where an index is outside, as gradients are")
                                            .Internal()
                                            .Build();
  return schema;
}

const AttributeSchema& ScatterNdAttributes::Schema() {
  static const AttributeSchema schema = [] {
    auto builder = BatchDimsSchema<ScatterNdAttributes>();
    return AddReduction(builder).Build();
  }();
  return schema;
}

namespace op_def {
namespace {

bool RefuseTuples(InferContext& context) {
  context.Fail(
      "indices " + context.shape(1).ToString() + " do not fit " + context.shape(0).ToString(),
      "their last axis counts the axes of x that a tuple of indices says, after the "
      "`batch_dims` axes that both have; the batch axis cannot be among those");
  return false;
}

// Returns whether the tuples of indices fit x; reports it where not.
bool ExpectTuples(InferContext& context, int64_t batch_dims) {
  const Shape &x = context.shape(0), &index = context.shape(1);
  if (!ExpectIndices(context, 1)) return false;
  if (index.rank() < 1 + batch_dims || x.rank() < 1 + batch_dims) return RefuseTuples(context);
  for (int i = 0; i < batch_dims; ++i) {
    if (x[i] != index[i]) return RefuseTuples(context);
  }
  const Dim tuple = index[index.rank() - 1];
  if (tuple.batch || tuple.size < 1 || tuple.size > x.rank() - batch_dims) {
    return RefuseTuples(context);
  }
  for (int64_t i = batch_dims; i < batch_dims + tuple.size; ++i) {
    if (x[static_cast<int>(i)].batch) return RefuseTuples(context);
  }
  return true;
}

// The shape of the blocks that the tuples name.
Shape BlocksShape(const Shape& x, const Shape& index, int64_t batch_dims) {
  const int64_t tuple = index[index.rank() - 1].size;
  std::vector<Dim> dims(index.begin(), index.end() - 1);
  dims.insert(dims.end(), x.begin() + batch_dims + tuple, x.end());
  return Shape(dims);
}

std::vector<TensorType> InferGatherNd(InferContext& context) {
  const int64_t batch_dims = context.attributes<GatherNdAttributes>().batch_dims;
  if (!ExpectTuples(context, batch_dims)) return {};
  const Shape y = BlocksShape(context.shape(0), context.shape(1), batch_dims);
  if (!CountElements(y)) {
    return context.Fail("the result " + y.ToString() + " is too large, or has two batch axes");
  }
  return {{context.dtype(0), y}};
}

void GatherNdGradient(GradientContext& context) {
  const int64_t batch_dims = context.attributes<GatherNdAttributes>().batch_dims;
  const ValueId zeros =
      context.Emit(OpId::fill, Attributes::Of(FillAttributes{0}), {context.input(0)}, "zeros");
  context.SetInputGradient(
      0, context.Emit(OpId::scatter_nd, Attributes::Of(ScatterNdAttributes{batch_dims, "add"}),
                      {zeros, context.input(1), context.output_gradient(0)}, "dx"));
}

std::vector<TensorType> InferScatterNd(InferContext& context) {
  const auto& attributes = context.attributes<ScatterNdAttributes>();
  if (!ExpectTuples(context, attributes.batch_dims)) return {};
  if (!ExpectReducible(context, attributes.reduction)) return {};
  const Shape blocks = BlocksShape(context.shape(0), context.shape(1), attributes.batch_dims);
  if (!ExpectInput(context, 2, "updates", {context.dtype(0), blocks})) return {};
  return {context.input(0)};
}

// As of scatter_elements.
void ScatterNdGradient(GradientContext& context) {
  const auto& attributes = context.attributes<ScatterNdAttributes>();
  const bool replaces = attributes.reduction == "none";
  if (!replaces && attributes.reduction != "add") return;
  const ValueId dy = context.output_gradient(0), index = context.input(1);
  if (context.needs_gradient(2)) {
    const GatherNdAttributes gather{attributes.batch_dims, true};
    context.SetInputGradient(
        2, context.Emit(OpId::gather_nd, Attributes::Of(gather), {dy, index}, "dupdates"));
  }
  if (!context.needs_gradient(0)) return;
  if (!replaces) return context.SetInputGradient(0, dy);
  const ValueId zeros =
      context.Emit(OpId::fill, Attributes::Of(FillAttributes{0}), {context.input(2)}, "zeros");
  context.SetInputGradient(
      0, context.Emit(OpId::scatter_nd, context.node().attributes, {dy, index, zeros}, "dx"));
}

}  // namespace

OpDef gather_nd() {
  OpDef def = Described(
      {"gather_nd", "Takes blocks of a tensor at tuples of indices.",
       "y[i, …] = x[index[i, 0], index[i, 1], …]: the last axis of index is a tuple, which names "
       "an "
       "element, or a block where it is shorter than the axes of x; i may be several axes. With "
       "`batch_dims`, the first axes are those of x and of index. A negative index counts from the "
       "end of its axis. A tuple beyond x gives NaN, or 0 of a type without NaN, and no gradient. "
       "ONNX GatherND."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}, {"index", "uint8, int32 or int64, [batch axes, …, tuple]"}};
  def.outputs = {{"y", "[batch axes, …, axes of a block], type of x"}};
  def.schema = &GatherNdAttributes::Schema();
  def.infer = InferGatherNd;
  def.gradient = GatherNdGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef scatter_nd() {
  OpDef def = Described(
      {"scatter_nd", "Writes blocks into a copy of a tensor at tuples of indices.",
       "y is x, but y[index[i, 0], index[i, 1], …] = updates[i, …], or as `reduction` says, in the "
       "order of the tuples. A negative index counts from the end of its axis. What has a tuple "
       "beyond x is not written. Gradients flow for `none` and `add`; if two are written to one "
       "element, both have its gradient. ONNX ScatterND."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"},
                {"index", "uint8, int32 or int64, [batch axes, …, tuple]"},
                {"updates", "[batch axes, …, axes of a block], type of x"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &ScatterNdAttributes::Schema();
  def.infer = InferScatterNd;
  def.gradient = ScatterNdGradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
