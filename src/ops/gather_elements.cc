// Defines gather_elements and scatter_elements, which read and write single elements at indices of
// one axis. Each is a part of the other's gradient.
#include "src/ops/builders.h"
#include "src/ops/fill.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& GatherElementsAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<GatherElementsAttributes>()
          .Add("axis", &GatherElementsAttributes::axis,
               "axis that the indices count on; negative ones count from the last; the batch axis, "
               "0, excepted")
          .Add("zero_outside", &GatherElementsAttributes::zero_outside,
               "0 where an index is outside, as gradients are")
          .Internal()
          .Build();
  return schema;
}

const AttributeSchema& ScatterElementsAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<ScatterElementsAttributes> builder;
    builder.Add(
        "axis", &ScatterElementsAttributes::axis,
        "axis that the indices count on; negative ones count from the last; the batch axis, "
        "0, excepted");
    return AddReduction(builder).Build();
  }();
  return schema;
}

namespace op_def {
namespace {

// Returns whether the indices have the axes of x, and lie within x on all but one; reports it where
// not.
bool ExpectElements(InferContext& context, int64_t wanted) {
  const Shape &x = context.shape(0), &index = context.shape(1);
  const auto axis = IndexedAxis(context, wanted, x);
  if (!axis || !ExpectIndices(context, 1)) return false;
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits =
        i == *axis ? !index[i].batch : index[i].batch == x[i].batch && index[i].size <= x[i].size;
  }
  if (fits) return true;
  context.Fail("indices " + index.ToString() + " do not fit " + x.ToString(),
               "they have as many axes, and may be longer on the axis that they count on only");
  return false;
}

std::vector<TensorType> InferGatherElements(InferContext& context) {
  if (!ExpectElements(context, context.attributes<GatherElementsAttributes>().axis)) return {};
  return {{context.dtype(0), context.shape(1)}};
}

void GatherElementsGradient(GradientContext& context) {
  const int64_t axis = context.attributes<GatherElementsAttributes>().axis;
  const ValueId zeros =
      context.Emit(OpId::fill, Attributes::Of(FillAttributes{0}), {context.input(0)}, "zeros");
  context.SetInputGradient(
      0,
      context.Emit(OpId::scatter_elements, Attributes::Of(ScatterElementsAttributes{axis, "add"}),
                   {zeros, context.input(1), context.output_gradient(0)}, "dx"));
}

std::vector<TensorType> InferScatterElements(InferContext& context) {
  const auto& attributes = context.attributes<ScatterElementsAttributes>();
  if (!ExpectElements(context, attributes.axis)) return {};
  if (!ExpectReducible(context, attributes.reduction)) return {};
  const TensorType wanted{context.dtype(0), context.shape(1)};
  if (!ExpectInput(context, 2, "updates", wanted)) return {};
  return {context.input(0)};
}

// An element that is written has its gradient there. The one that it replaces has none.
void ScatterElementsGradient(GradientContext& context) {
  const auto& attributes = context.attributes<ScatterElementsAttributes>();
  const bool replaces = attributes.reduction == "none";
  if (!replaces && attributes.reduction != "add") return;
  const ValueId dy = context.output_gradient(0), index = context.input(1);
  if (context.needs_gradient(2)) {
    const GatherElementsAttributes gather{attributes.axis, true};
    context.SetInputGradient(
        2, context.Emit(OpId::gather_elements, Attributes::Of(gather), {dy, index}, "dupdates"));
  }
  if (!context.needs_gradient(0)) return;
  if (!replaces) return context.SetInputGradient(0, dy);
  const ValueId zeros =
      context.Emit(OpId::fill, Attributes::Of(FillAttributes{0}), {context.input(2)}, "zeros");
  context.SetInputGradient(
      0, context.Emit(OpId::scatter_elements, context.node().attributes, {dy, index, zeros}, "dx"));
}

}  // namespace

OpDef gather_elements() {
  OpDef def = Described({"gather_elements", "Takes elements of a tensor at indices of one axis.",
                         "y[…, i, …] = x[…, index[…, i, …], …]: each element of y has an index of "
                         "its own. A negative "
                         "index counts from the end of the axis. An index beyond it gives NaN, or "
                         "0 of a type without "
                         "NaN, and no gradient. ONNX GatherElements; PyTorch gather."});
  def.usage = Usage::kOperator;
  def.inputs = {
      {"x", "any tensor"},
      {"index", "uint8, int32 or int64, of the rank of x, no longer than x on other axes"}};
  def.outputs = {{"y", "shape of index, type of x"}};
  def.schema = &GatherElementsAttributes::Schema();
  def.infer = InferGatherElements;
  def.gradient = GatherElementsGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef scatter_elements() {
  OpDef def = Described(
      {"scatter_elements", "Writes elements into a copy of a tensor at indices of one axis.",
       "y is x, but y[…, index[…, i, …], …] = updates[…, i, …], or as `reduction` says, in index "
       "order. A negative index counts from the end of the axis. What has an index beyond it is "
       "not "
       "written. Gradients flow for `none` and `add`; if two are written to one element, both have "
       "its gradient. ONNX ScatterElements."});
  def.usage = Usage::kOperator;
  def.inputs = {
      {"x", "any tensor"},
      {"index", "uint8, int32 or int64, of the rank of x, no longer than x on other axes"},
      {"updates", "shape of index, type of x"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &ScatterElementsAttributes::Schema();
  def.infer = InferScatterElements;
  def.gradient = ScatterElementsGradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
