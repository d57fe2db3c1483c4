// Defines one_hot: indices of classes as rows of numbers.
#include "src/ops/one_hot.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& OneHotAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<OneHotAttributes>()
          .Add("classes", &OneHotAttributes::classes, "number of classes, the size of the new axis")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Add("on_value", &OneHotAttributes::on_value, "number at the class itself")
          .Add("off_value", &OneHotAttributes::off_value, "number at the other classes")
          .Add("dtype", &OneHotAttributes::dtype, "number type of y, a floating-point one")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferOneHot(InferContext& context) {
  const auto& attributes = context.attributes<OneHotAttributes>();
  if (!IsFloat(attributes.dtype)) {
    return context.Fail("`dtype` must be a floating-point type, not " +
                        std::string(Name(attributes.dtype)));
  }
  if (!IsIndex(context.dtype(0))) {
    return context.Fail("needs indices of type uint8, int32 or int64, not " +
                        context.input(0).ToString());
  }
  Shape shape = context.shape(0);
  shape.dims().push_back(Dim(attributes.classes));
  if (!CountElements(shape)) {
    return context.Fail("the result " + shape.ToString() + " is too large");
  }
  return {{attributes.dtype, shape}};
}

}  // namespace

OpDef one_hot() {
  OpDef def;
  def.name = "one_hot";
  def.summary = "Encodes each index as a row in which one number differs.";
  def.details =
      "y[…, c] = on_value where c is the index, else off_value; the classes are a new last axis. "
      "An index outside [0, classes) gives a row of off_value. ONNX OneHot, without its indices "
      "that count from the end.";
  def.usage = Usage::kOperator;
  def.inputs = {{"index", "uint8, int32 or int64, any shape: [N] for a class a sample"}};
  def.outputs = {{"y", "shape of index and [classes], of type `dtype`"}};
  def.schema = &OneHotAttributes::Schema();
  def.infer = InferOneHot;
  def.cost = NoOperations;
  def.labels = Labels::kIds;
  def.id_count = "classes";
  def.skips_labels = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
