// Defines trilu, which keeps a triangle of matrices. It is its own gradient.
#include "src/ops/trilu.h"

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& TriluAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<TriluAttributes>()
          .Add("upper", &TriluAttributes::upper, "keep the upper triangle, not the lower one")
          .Add(
              "diagonal", &TriluAttributes::diagonal,
              "the diagonal at the edge of the triangle: 0 is the main one, 1 the one above it, -1 "
              "the one below it")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferTrilu(InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.rank() < 2) return context.Fail(RankMessage("trilu", "of matrices", x));
  if (x[x.rank() - 1].batch || x[x.rank() - 2].batch) {
    return context.Fail("the batch axis of " + x.ToString() + " cannot be an axis of the matrices");
  }
  return {context.input(0)};
}

void TriluGradient(GradientContext& context) {
  context.SetInputGradient(
      0, context.Emit(OpId::trilu, context.node().attributes, {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef trilu() {
  OpDef def = Described(
      {"trilu", "Keeps the lower or the upper triangle of matrices.",
       "y[…, i, j] = x[…, i, j] where j - i ≤ diagonal (≥ if `upper`), else 0. ONNX Trilu; NumPy "
       "tril and triu."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[…, rows, columns], any type"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &TriluAttributes::Schema();
  def.infer = InferTrilu;
  def.gradient = TriluGradient;
  def.cost = NoOperations;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
