// Defines top_k, which tells where the largest elements of an axis are. `gather_elements` takes
// them, with their gradient.
#include "src/ops/top_k.h"

#include "src/ops/builders.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& TopKAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<TopKAttributes>()
          .Add("k", &TopKAttributes::k, "number of elements that are found")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Add("axis", &TopKAttributes::axis,
               "axis to search, the batch axis, 0, excepted; negative ones count from the last")
          .Add("smallest", &TopKAttributes::smallest, "find the least elements instead")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferTopK(InferContext& context) {
  const auto& attributes = context.attributes<TopKAttributes>();
  if (!HasArithmetic(context.dtype(0))) return InferSameNumbers(context);
  const auto axis = IndexedAxis(context, attributes.axis, context.shape(0));
  if (!axis) return {};
  Shape y = context.shape(0);
  if (attributes.k > y[*axis].size) {
    return context.Fail("`k` is " + std::to_string(attributes.k) + ", and axis " +
                        std::to_string(*axis) + " of " + y.ToString() + " is shorter");
  }
  y[*axis] = Dim(attributes.k);
  return {{DType::kI64, y}};
}

OpCost TopKCost(const NodeSignature& node) { return {8 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef top_k() {
  OpDef def = Described(
      {"top_k", "Tells where the k largest elements of an axis are.",
       "y has their positions on `axis`, from 0 on, the largest first, of equal ones the first "
       "first. A NaN is larger than all numbers. `gather_elements` with x, y and the same axis "
       "gives the elements, with their gradient. ONNX TopK, its second output."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "floats or integers, any shape but []"}};
  def.outputs = {{"y", "int64, shape of x with k on the axis"}};
  def.schema = &TopKAttributes::Schema();
  def.infer = InferTopK;
  def.cost = TopKCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
