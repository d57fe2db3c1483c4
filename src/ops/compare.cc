// Defines compare: a bool for each pair of elements. No gradient flows through it.
#include "src/ops/compare.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& CompareAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<CompareAttributes>()
          .Add("is", &CompareAttributes::is, "what y says of a, compared with b")
          .Required()
          .Choices({"less", "less_or_equal", "equal", "not_equal", "greater", "greater_or_equal"})
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferCompare(InferContext& context) {
  if (context.dtype(0) != context.dtype(1)) {
    return context.Fail("needs two inputs of one type, not " + context.input(0).ToString() +
                            " and " + context.input(1).ToString(),
                        "convert one with `cast`");
  }
  return InferCommonShape(context, DType::kBool);
}

}  // namespace

OpDef compare() {
  OpDef def;
  def.name = "compare";
  def.summary = "Compares two tensors, element by element.";
  def.details =
      "y says whether a is less than b, equal to it and so on. As IEEE 754 has it, a NaN is not "
      "equal to anything, itself included, and neither less nor greater; -0 equals 0. false is "
      "less than true. `where` takes y as its condition. ONNX Less, LessOrEqual, Equal, Greater, "
      "GreaterOrEqual, and Equal with Not.";
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "any type and shape"}, {"b", "type of a, a shape that goes with a's"}};
  def.outputs = {{"y", "bool, the broadcast shape"}};
  def.schema = &CompareAttributes::Schema();
  def.infer = InferCompare;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
