// Defines cumsum. Its gradient is a cumsum in the other direction.
#include "src/ops/cumsum.h"

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& CumsumAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<CumsumAttributes>()
          .Add("axis", &CumsumAttributes::axis,
               "axis to go along, the batch axis, 0, excepted; negative ones count from the last")
          .Add("exclusive", &CumsumAttributes::exclusive, "each sum leaves its own element out")
          .Add("reverse", &CumsumAttributes::reverse,
               "go from the end of the axis to its beginning")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferCumsum(InferContext& context) {
  const int64_t wanted = context.attributes<CumsumAttributes>().axis;
  if (!HasArithmetic(context.dtype(0))) return InferSameNumbers(context);
  const auto axis = NormalizeAxis(wanted, context.shape(0).rank());
  if (!axis) return context.Fail(AxesMessage({wanted}, context.shape(0)));
  if (context.shape(0)[*axis].batch) return context.Fail("the batch axis cannot be added up");
  return {context.input(0)};
}

// Each element is part of the sums behind it.
void CumsumGradient(GradientContext& context) {
  CumsumAttributes attributes = context.attributes<CumsumAttributes>();
  attributes.reverse = !attributes.reverse;
  context.SetInputGradient(0, context.Emit(OpId::cumsum, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef cumsum() {
  OpDef def = Described(
      {"cumsum", "Adds up the elements along an axis, and gives every sum on the way.",
       "y[i] = x[0] + … + x[i] on `axis`; without x[i] if `exclusive`, so that the first is 0; "
       "from "
       "the end on if `reverse`. Floats are added in f64 and rounded for each y; integers wrap "
       "around. ONNX CumSum."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "floats or integers, any shape but []"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &CumsumAttributes::Schema();
  def.infer = InferCumsum;
  def.gradient = CumsumGradient;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
