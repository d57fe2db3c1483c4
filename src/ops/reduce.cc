// Defines reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod over any axes, and what
// gradients of broadcast operands need of them.
#include "src/ops/reduce.h"

#include <algorithm>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reshape.h"

namespace cgrun {

const AttributeSchema& ReduceAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ReduceAttributes>()
          .Add("axes", &ReduceAttributes::axes,
               "axes to reduce, the batch axis being 0; negative ones count from the last; all of "
               "them if none is given")
          .Add("keep_dims", &ReduceAttributes::keep_dims,
               "keep the reduced axes, with size 1, instead of dropping them")
          .Build();
  return schema;
}

Shape ReducedShape(const Shape& shape, const std::vector<int>& axes, bool keep_dims) {
  std::vector<Dim> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!reduced) dims.push_back(shape[axis]);
    if (reduced && keep_dims) dims.push_back(Dim(1));
  }
  return Shape(dims);
}

ValueId ReduceToShape(GradientContext& context, ValueId gradient, Shape shape) {
  const Shape from = context.graph().values[gradient].type.shape;
  if (from == shape) return gradient;
  const int leading = from.rank() - shape.rank();
  ReduceAttributes reduce;
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (axis < leading || shape[axis - leading] != from[axis]) reduce.axes.push_back(axis);
  }
  reduce.keep_dims = static_cast<int>(reduce.axes.size()) > leading;
  const ValueId sum =
      context.Emit(OpId::reduce_sum, Attributes::Of(reduce), {gradient}, "broadcast_sum");
  return EmitReshape(context, sum, shape);
}

namespace op_def {
namespace {

std::vector<TensorType> InferReduce(InferContext& context) {
  const auto& attributes = context.attributes<ReduceAttributes>();
  if (!HasArithmetic(context.dtype(0))) return InferSameNumbers(context);
  const auto axes = NormalizeAxes(attributes.axes, context.shape(0).rank());
  if (!axes) return context.Fail(AxesMessage(attributes.axes, context.shape(0)));
  return {{context.dtype(0), ReducedShape(context.shape(0), *axes, attributes.keep_dims)}};
}

// A mean of integers would have a fraction.
std::vector<TensorType> InferMean(InferContext& context) {
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  return InferReduce(context);
}

OpCost ReduceCost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

// The shape of x with 1 in the place of what was reduced.
Shape KeptShape(GradientContext& context) {
  const Shape shape = context.input_type(0).shape;
  const auto axes = NormalizeAxes(context.attributes<ReduceAttributes>().axes, shape.rank());
  return ReducedShape(shape, *axes, true);
}

void RepeatGradient(GradientContext& context, bool average) {
  const ValueId kept = EmitReshape(context, context.output_gradient(0), KeptShape(context));
  const BroadcastAttributes attributes{context.input_type(0).shape, average};
  context.SetInputGradient(0,
                           context.Emit(OpId::broadcast, Attributes::Of(attributes), {kept}, "dx"));
}

void SumGradient(GradientContext& context) { RepeatGradient(context, false); }
void MeanGradient(GradientContext& context) { RepeatGradient(context, true); }

// Elements that equal the result share its gradient, be it the largest or the least.
void ExtremumGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(OpId::reduce_max_grad, context.node().attributes,
                      {context.input(0), context.output(0), context.output_gradient(0)}, "dx"));
}

void ProductGradient(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(OpId::reduce_prod_grad, context.node().attributes,
                                           {context.input(0), context.output_gradient(0)}, "dx"));
}

OpDef Reduction(std::string name, std::string summary, std::string details,
                GradientFunction gradient) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "floats or integers, any shape"}};
  def.outputs = {{"y", "shape of x without the reduced axes"}};
  def.schema = &ReduceAttributes::Schema();
  def.infer = InferReduce;
  def.gradient = gradient;
  def.cost = ReduceCost;
  return def;
}

// Takes x, and tensors of the type of its reduction.
std::vector<TensorType> InferReductionGrad(InferContext& context) {
  const std::vector<TensorType> reduced = InferMean(context);
  if (context.failed()) return {};
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i) != reduced[0]) {
      return context.Fail("needs " + reduced[0].ToString() + ", not " +
                          context.input(i).ToString());
    }
  }
  return {context.input(0)};
}

}  // namespace

OpDef reduce_sum() {
  return Reduction("reduce_sum", "Adds up elements over axes.",
                   "y = Σ x over `axes`, added in index order in f64 and rounded once; over one "
                   "element, y is that element, bit for bit. Integers wrap around. ONNX ReduceSum.",
                   SumGradient);
}

OpDef reduce_mean() {
  OpDef def = Reduction("reduce_mean", "Takes the mean over axes.",
                        "y = (Σ x) / count over `axes`, added in index order in f64 and rounded "
                        "once. ONNX ReduceMean.",
                        MeanGradient);
  def.inputs = {{"x", "floating-point, any shape"}};
  def.infer = InferMean;
  return def;
}

OpDef reduce_max() {
  return Reduction("reduce_max", "Takes the largest element over axes.",
                   "y = max x over `axes`; a NaN anywhere gives NaN; of -0 and +0 the first wins. "
                   "Its gradient is shared evenly by the elements that equal y, as PyTorch's amax "
                   "does. ONNX ReduceMax.",
                   ExtremumGradient);
}

OpDef reduce_min() {
  return Reduction("reduce_min", "Takes the least element over axes.",
                   "y = min x over `axes`; a NaN anywhere gives NaN; of -0 and +0 the first wins. "
                   "Its gradient is shared evenly by the elements that equal y, as PyTorch's amin "
                   "does. ONNX ReduceMin.",
                   ExtremumGradient);
}

OpDef reduce_prod() {
  return Reduction(
      "reduce_prod", "Multiplies elements over axes.",
      "y = ∏ x over `axes`, multiplied in index order in f64 and rounded once. Integers "
      "wrap around. ONNX ReduceProd.",
      ProductGradient);
}

OpDef reduce_prod_grad() {
  OpDef def;
  def.name = "reduce_prod_grad";
  def.summary = "Computes the gradient of reduce_prod.";
  def.details = "dx = dy times the product of the other elements, which may be 0.";
  def.inputs = {{"x", "input of reduce_prod"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &ReduceAttributes::Schema();
  def.infer = InferReductionGrad;
  def.cost = ReduceCost;
  return def;
}

OpDef reduce_max_grad() {
  OpDef def;
  def.name = "reduce_max_grad";
  def.summary = "Computes the gradient of reduce_max, and of reduce_min.";
  def.details =
      "dx = dy / n where x equals y, else 0; n is how many elements do. Where y is NaN, the NaNs "
      "of x share it.";
  def.inputs = {{"x", "input of the reduction"}, {"y", "its output"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &ReduceAttributes::Schema();
  def.infer = InferReductionGrad;
  def.cost = ReduceCost;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
