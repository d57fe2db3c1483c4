// Defines where, which takes one of two operands, element by element. Its gradient needs the
// condition alone.
#include "src/ops/where.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun {

const AttributeSchema& WhereGradAttributes::Schema() {
  static const AttributeSchema schema = SchemaBuilder<WhereGradAttributes>()
                                            .Add("taken_if", &WhereGradAttributes::taken_if,
                                                 "the condition under which the operand was taken")
                                            .Internal()
                                            .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferWhere(InferContext& context) {
  if (context.dtype(0) != DType::kBool) {
    return context.Fail("needs a condition of type bool, not " + context.input(0).ToString(),
                        "`compare` makes one; `cast` with `to: bool` asks what is not 0");
  }
  if (context.dtype(1) != context.dtype(2)) {
    return context.Fail("a and b differ in type: " + context.input(1).ToString() + " and " +
                            context.input(2).ToString(),
                        "convert one with `cast`");
  }
  const auto either = BroadcastShapes(context.shape(1), context.shape(2));
  const auto shape = either ? BroadcastShapes(context.shape(0), *either) : std::nullopt;
  if (!shape) {
    return context.Fail("shapes " + context.shape(0).ToString() + ", " +
                            context.shape(1).ToString() + " and " + context.shape(2).ToString() +
                            " do not go together",
                        "from the last axis on, dimensions must be equal or 1");
  }
  return {{context.dtype(1), *shape}};
}

void WhereGradient(GradientContext& context) {
  for (int i : {1, 2}) {
    const TensorType type = context.input_type(i);
    if (!context.needs_gradient(i) || !IsFloat(type.dtype)) continue;
    const ValueId gradient =
        context.Emit(OpId::where_grad, Attributes::Of(WhereGradAttributes{i == 1}),
                     {context.input(0), context.output_gradient(0)}, i == 1 ? "da" : "db");
    context.SetInputGradient(i, ReduceToShape(context, gradient, type.shape));
  }
}

std::vector<TensorType> InferWhereGrad(InferContext& context) {
  const auto shape = BroadcastShapes(context.shape(0), context.shape(1));
  if (context.dtype(0) == DType::kBool && IsFloat(context.dtype(1)) && shape == context.shape(1)) {
    return {context.input(1)};
  }
  return context.Fail("needs a condition and a floating-point gradient that it goes with, not " +
                      context.input(0).ToString() + " and " + context.input(1).ToString());
}

}  // namespace

OpDef where() {
  OpDef def;
  def.name = "where";
  def.summary = "Takes one of two tensors, element by element, as a condition says.";
  def.details =
      "y = a where the condition is true, else b, bit for bit. What is not taken has no part in y, "
      "and its gradient is 0, be it NaN or infinite. ONNX Where.";
  def.usage = Usage::kOperator;
  def.inputs = {{"condition", "bool, any shape"},
                {"a", "any type, a shape that goes with the others"},
                {"b", "type of a, a shape that goes with the others"}};
  def.outputs = {{"y", "type of a, the broadcast shape"}};
  def.infer = InferWhere;
  def.gradient = WhereGradient;
  def.cost = NoOperations;
  def.in_place = {{1, 0}, {2, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef where_grad() {
  OpDef def;
  def.name = "where_grad";
  def.summary = "Computes the gradient of where with respect to one operand.";
  def.details = "dx = dy where the condition equals `taken_if`, else 0.";
  def.inputs = {{"condition", "condition of where"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of the operand, before sums over what was broadcast"}};
  def.schema = &WhereGradAttributes::Schema();
  def.infer = InferWhereGrad;
  def.cost = NoOperations;
  def.in_place = {{1, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
