// Defines matmul: matrix products, also of stacks of matrices. Its gradients are products again.
#include "src/ops/matmul.h"

#include <optional>
#include <utility>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"

namespace cgrun {

const AttributeSchema& MatmulAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<MatmulAttributes>()
          .Add("transpose_a", &MatmulAttributes::transpose_a, "exchange the last two axes of a")
          .Add("transpose_b", &MatmulAttributes::transpose_b, "exchange the last two axes of b")
          .Build();
  return schema;
}

ValueId EmitFlattenRows(GradientContext& context, ValueId value) {
  const Shape shape = context.graph().values[value].type.shape;
  const std::vector<Dim> leading(shape.begin(), shape.end() - 1);
  return EmitReshape(context, value, {Shape(leading).ElementsDim(), shape[shape.rank() - 1]});
}

namespace op_def {
namespace {

// Holds the axes of one operand's matrices, as they are without transposition.
struct Matrix {
  Dim rows, columns;
};

Matrix MatrixOf(const Shape& shape, bool transpose) {
  const Dim before_last = shape[shape.rank() - 2], last = shape[shape.rank() - 1];
  return transpose ? Matrix{last, before_last} : Matrix{before_last, last};
}

std::vector<Dim> LeadingOf(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// Returns the axes of the stack: those of both operands, or of the one that is no single matrix.
std::optional<std::vector<Dim>> Leading(const Shape& a, const Shape& b) {
  if (b.rank() == 2) return LeadingOf(a);
  if (a.rank() == 2 || LeadingOf(a) == LeadingOf(b)) return LeadingOf(b);
  return std::nullopt;
}

std::string Transposed(const Shape& shape, bool transpose) {
  return shape.ToString() + (transpose ? " (transposed)" : "");
}

std::vector<TensorType> InferMatmul(InferContext& context) {
  const auto& attributes = context.attributes<MatmulAttributes>();
  if (context.dtype(0) != context.dtype(1) || !IsFloat(context.dtype(0))) {
    return context.Fail("needs two floating-point inputs of one type, not " +
                            context.input(0).ToString() + " and " + context.input(1).ToString(),
                        "convert one with `cast`");
  }
  const Shape &a = context.shape(0), &b = context.shape(1);
  const std::string both =
      Transposed(a, attributes.transpose_a) + " and " + Transposed(b, attributes.transpose_b);
  if (a.rank() < 2 || b.rank() < 2) {
    return context.Fail("needs two matrices or stacks of them, not " + both);
  }
  std::optional<std::vector<Dim>> dims = Leading(a, b);
  if (!dims) {
    return context.Fail("the leading axes of " + both + " differ",
                        "they must be equal, or one operand must be a single matrix");
  }
  const Matrix ma = MatrixOf(a, attributes.transpose_a), mb = MatrixOf(b, attributes.transpose_b);
  if (ma.columns != mb.rows) {
    return context.Fail("the inner sizes of " + both + " differ: " + ma.columns.ToString() +
                            " and " + mb.rows.ToString(),
                        "the columns of a must be as many as the rows of b");
  }
  dims->push_back(ma.rows);
  dims->push_back(mb.columns);
  const Shape y(std::move(*dims));
  if (!CountElements(y)) {
    return context.Fail("the product of " + both + " would be " + y.ToString(),
                        "only one axis can depend on the batch, and the sizes must be positive");
  }
  return {{context.dtype(0), y}};
}

ValueId Product(GradientContext& context, ValueId a, bool transpose_a, ValueId b, bool transpose_b,
                std::string_view suffix) {
  return context.Emit(OpId::matmul, Attributes::Of(MatmulAttributes{transpose_a, transpose_b}),
                      {a, b}, suffix);
}

// With A and B as they are after transposition, dA = dy·Bᵀ and dB = Aᵀ·dy. An operand that was
// transposed gets the transpose of that, with the factors exchanged.
ValueId GradientOfA(GradientContext& context, const MatmulAttributes& attributes) {
  const ValueId dy = context.output_gradient(0), b = context.input(1);
  if (attributes.transpose_a) return Product(context, b, attributes.transpose_b, dy, true, "da");
  return Product(context, dy, false, b, !attributes.transpose_b, "da");
}

// The gradient of one matrix that multiplied a stack of untransposed ones is one product over all
// rows of the stack.
ValueId GradientOfB(GradientContext& context, const MatmulAttributes& attributes) {
  ValueId dy = context.output_gradient(0), a = context.input(0);
  if (!attributes.transpose_a && context.input_type(1).shape.rank() == 2) {
    dy = EmitFlattenRows(context, dy);
    a = EmitFlattenRows(context, a);
  }
  if (attributes.transpose_b) return Product(context, dy, true, a, attributes.transpose_a, "db");
  return Product(context, a, !attributes.transpose_a, dy, false, "db");
}

void MatmulGradient(GradientContext& context) {
  const auto attributes = context.attributes<MatmulAttributes>();
  for (int i : {0, 1}) {
    if (!context.needs_gradient(i)) continue;
    const ValueId gradient =
        i == 0 ? GradientOfA(context, attributes) : GradientOfB(context, attributes);
    context.SetInputGradient(i, ReduceToShape(context, gradient, context.input_type(i).shape));
  }
}

OpCost MatmulCost(const NodeSignature& node) {
  const bool transpose_a = node.attributes.As<MatmulAttributes>().transpose_a;
  const int64_t depth = MatrixOf(node.inputs[0].shape, transpose_a).columns.size;
  return {2 * depth * node.outputs[0].shape.Elements()};
}

}  // namespace

OpDef matmul() {
  OpDef def;
  def.name = "matmul";
  def.summary = "Multiplies matrices.";
  def.details =
      "y = A·B, y[…, i, j] = Σₖ A[…, i, k]·B[…, k, j], where A is a or its transpose, and B "
      "likewise. "
      "Operands have rank 2 or more; leading axes stack matrices and must be equal, or one operand "
      "is a single matrix that goes with every matrix of the other. The device `reference` adds in "
      "the order of k, in f64 for f64 and in f32 for other types, and rounds once. ONNX MatMul "
      "(after Transpose).";
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "[…, m, k], or […, k, m] where it is transposed"},
                {"b", "[…, k, n], or […, n, k] where it is transposed"}};
  def.outputs = {{"y", "[…, m, n]"}};
  def.schema = &MatmulAttributes::Schema();
  def.infer = InferMatmul;
  def.gradient = MatmulGradient;
  def.cost = MatmulCost;
  def.narrow = Narrow::kAlways;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
