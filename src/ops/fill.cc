// Defines fill, which gives one number in the shape of another tensor: the target of a loss, say.
#include "src/ops/fill.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& FillAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<FillAttributes>()
          .Add("value", &FillAttributes::value, "every element of y")
          .Build();
  return schema;
}

namespace op_def {

OpDef fill() {
  OpDef def;
  def.name = "fill";
  def.summary = "Makes a tensor of one number in the shape of its input.";
  def.details =
      "y = value, rounded to the type of x; no gradient flows. ONNX ConstantOfShape with Shape.";
  def.usage = Usage::kOperator;
  def.schema = &FillAttributes::Schema();
  def.inputs = {{"x", "any shape; its elements are not read"}};
  def.outputs = {{"y", "shape and type of x"}};
  def.infer = InferSameAsInput;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
