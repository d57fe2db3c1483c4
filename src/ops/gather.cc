// Defines gather, which takes slices of a tensor at indices of one axis, and its gradient.
#include "src/ops/gather.h"

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& GatherAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<GatherAttributes>()
          .Add("axis", &GatherAttributes::axis,
               "axis of x that the indices count on; negative ones count from the last; the batch "
               "axis of x excepted")
          .Build();
  return schema;
}

const AttributeSchema& GatherGradAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<GatherGradAttributes>()
          .Add("axis", &GatherGradAttributes::axis, "axis of x that the indices count on")
          .Add("shape", &GatherGradAttributes::shape, "shape of the input of gather")
          .Internal()
          .Build();
  return schema;
}

bool ExpectIndices(InferContext& context, int i) {
  if (IsIndex(context.dtype(i))) return true;
  context.Fail("needs indices of type uint8, int32 or int64, not " + context.input(i).ToString(),
               "convert them with `cast`");
  return false;
}

std::optional<int> IndexedAxis(InferContext& context, int64_t axis, const Shape& shape) {
  const auto normal = NormalizeAxis(axis, shape.rank());
  if (!normal) {
    context.Fail(AxesMessage({axis}, shape));
  } else if (shape[*normal].batch) {
    context.Fail("the batch axis of " + shape.ToString() + " cannot be indexed",
                 "a sample may not read what belongs to another one");
    return std::nullopt;
  }
  return normal;
}

bool ExpectReducible(InferContext& context, const std::string& reduction) {
  if (reduction == "none" || HasArithmetic(context.dtype(0))) return true;
  context.Fail("`reduction: " + reduction + "` needs floats or integers, not " +
               context.input(0).ToString());
  return false;
}

namespace op_def {
namespace {

// The shape of what is gathered; reports where there is none.
Shape GatheredShape(InferContext& context, const Shape& x, const Shape& index, int64_t wanted) {
  const auto axis = IndexedAxis(context, wanted, x);
  if (!axis) return {};
  std::vector<Dim> dims(x.begin(), x.begin() + *axis);
  dims.insert(dims.end(), index.begin(), index.end());
  dims.insert(dims.end(), x.begin() + *axis + 1, x.end());
  if (!CountElements(Shape(dims))) {
    context.Fail("cannot take " + index.ToString() + " slices of " + x.ToString() +
                     ": the result would be too large, or have two batch axes",
                 "`gather_nd` with `batch_dims: 1` takes what each sample asks for");
  }
  return Shape(dims);
}

std::vector<TensorType> InferGather(InferContext& context) {
  if (!ExpectIndices(context, 1)) return {};
  const Shape y = GatheredShape(context, context.shape(0), context.shape(1),
                                context.attributes<GatherAttributes>().axis);
  if (context.failed()) return {};
  return {{context.dtype(0), y}};
}

void GatherGradient(GradientContext& context) {
  const GatherGradAttributes attributes{context.attributes<GatherAttributes>().axis,
                                        context.input_type(0).shape};
  context.SetInputGradient(0, context.Emit(OpId::gather_grad, Attributes::Of(attributes),
                                           {context.input(1), context.output_gradient(0)}, "dx"));
}

std::vector<TensorType> InferGatherGrad(InferContext& context) {
  const auto& attributes = context.attributes<GatherGradAttributes>();
  if (!ExpectIndices(context, 0)) return {};
  const Shape y = GatheredShape(context, attributes.shape, context.shape(0), attributes.axis);
  if (context.failed()) return {};
  if (!IsFloat(context.dtype(1)) || context.shape(1) != y) {
    return context.Fail("needs a floating-point gradient of shape " + y.ToString() + ", not " +
                        context.input(1).ToString());
  }
  return {{context.dtype(1), attributes.shape}};
}

OpCost GatherGradCost(const NodeSignature& node) { return {node.inputs[1].shape.Elements()}; }

}  // namespace

OpDef gather() {
  OpDef def = Described(
      {"gather", "Takes slices of a tensor at indices of one axis.",
       "y[…, i, …] = x[…, index[i], …], where i may be several axes, which stand in y in the place "
       "of `axis`. A negative index counts from the end of the axis. An index beyond it gives NaN, "
       "or 0 of a type without NaN, and no gradient. ONNX Gather; NumPy take."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}, {"index", "uint8, int32 or int64, any shape"}};
  def.outputs = {{"y", "shape of x with that of index in the place of the axis"}};
  def.schema = &GatherAttributes::Schema();
  def.infer = InferGather;
  def.gradient = GatherGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef gather_grad() {
  OpDef def =
      Described({"gather_grad", "Computes the gradient of gather.",
                 "dx[…, e, …] = Σ dy[…, i, …] over the indices i that are e, in their order "
                 "in f64, rounded once; 0 where there is none."});
  def.inputs = {{"index", "indices of gather"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "of shape `shape`"}};
  def.schema = &GatherGradAttributes::Schema();
  def.infer = InferGatherGrad;
  def.cost = GatherGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
