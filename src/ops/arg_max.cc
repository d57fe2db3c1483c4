// Defines arg_max and arg_min, which tell where the extremum of an axis is.
#include "src/ops/arg_max.h"

#include <utility>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun {

const AttributeSchema& ArgMaxAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ArgMaxAttributes>()
          .Add("axis", &ArgMaxAttributes::axis,
               "axis to search, the batch axis being 0; negative ones count from the last")
          .Add("keep_dims", &ArgMaxAttributes::keep_dims,
               "keep the axis, with size 1, instead of dropping it")
          .Add("last", &ArgMaxAttributes::last, "of equal elements, tell the last one")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferArgMax(InferContext& context) {
  const auto& attributes = context.attributes<ArgMaxAttributes>();
  if (!HasArithmetic(context.dtype(0))) return InferSameNumbers(context);
  const Shape& x = context.shape(0);
  const auto axis = NormalizeAxis(attributes.axis, x.rank());
  if (!axis) return context.Fail(AxesMessage({attributes.axis}, x));
  if (x[*axis].batch) {
    return context.Fail("the batch axis cannot be searched",
                        "what is found would depend on the batch size");
  }
  return {{DType::kI64, ReducedShape(x, {*axis}, attributes.keep_dims)}};
}

OpCost SearchCost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

OpDef Search(OpText text) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "floats or integers, any shape but []"}};
  def.outputs = {{"y", "int64, shape of x without the axis"}};
  def.schema = &ArgMaxAttributes::Schema();
  def.infer = InferArgMax;
  def.cost = SearchCost;
  return def;
}

}  // namespace

OpDef arg_max() {
  return Search(
      {"arg_max", "Tells where the largest element of an axis is.",
       "y is the position on `axis`, from 0 on, of the largest element: of equal ones the "
       "first, or the last if `last`. A NaN is larger than all numbers, as in NumPy. No "
       "gradient flows. ONNX ArgMax."});
}

OpDef arg_min() {
  return Search({"arg_min", "Tells where the least element of an axis is.",
                 "y is the position on `axis`, from 0 on, of the least element: of equal ones the "
                 "first, or the last if `last`. A NaN is less than all numbers, as in NumPy. No "
                 "gradient flows. ONNX ArgMin."});
}

}  // namespace op_def
}  // namespace cgrun
