// Defines matmul_integer: products of quantised matrices with exact sums.
#include <optional>
#include <utility>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/integer_product.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

bool ExpectBytes(InferContext& context, int i) {
  const DType dtype = context.dtype(i);
  if (dtype == DType::kI8 || dtype == DType::kU8) return true;
  context.Fail("needs int8 or uint8, not " + context.input(i).ToString());
  return false;
}

bool ExpectZeroPoint(InferContext& context, int i, DType dtype, const Dim& count) {
  const Shape& shape = context.shape(i);
  const bool is_one = shape.IsBound() && shape.Elements() == 1 && shape.rank() <= 1;
  const bool is_list = shape.rank() == 1 && shape[0] == count && !count.batch;
  if (context.dtype(i) == dtype && (is_one || is_list)) return true;
  context.Fail("a zero point must be one " + std::string(Name(dtype)) + ", or " + count.ToString() +
               " of them, not " + context.input(i).ToString());
  return false;
}

namespace op_def {
namespace {

std::vector<Dim> Stack(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// Returns the axes of the stack: those of both operands, or of the one that is no single matrix.
std::optional<std::vector<Dim>> StackOf(const Shape& a, const Shape& b) {
  if (b.rank() == 2) return Stack(a);
  if (a.rank() == 2 || Stack(a) == Stack(b)) return Stack(b);
  return std::nullopt;
}

std::vector<TensorType> InferMatmulInteger(InferContext& context) {
  const Shape &a = context.shape(0), &b = context.shape(1);
  if (!ExpectBytes(context, 0) || !ExpectBytes(context, 1)) return {};
  const bool are_matrices = a.rank() >= 2 && b.rank() >= 2;
  std::optional<std::vector<Dim>> dims;
  if (are_matrices && a[a.rank() - 1] == b[b.rank() - 2]) dims = StackOf(a, b);
  if (!dims) {
    return context.Fail("needs matrices, or stacks of them, that go together, not " + a.ToString() +
                            " and " + b.ToString(),
                        "the columns of a must be as many as the rows of b; leading axes must be "
                        "equal, or one operand a single matrix");
  }
  const Dim rows = a[a.rank() - 2], columns = b[b.rank() - 1];
  if (!ExpectZeroPoint(context, 2, context.dtype(0), rows)) return {};
  if (!ExpectZeroPoint(context, 3, context.dtype(1), columns)) return {};
  dims->push_back(rows);
  dims->push_back(columns);
  const Shape y(std::move(*dims));
  if (!CountElements(y)) {
    return context.Fail("the product would be " + y.ToString(),
                        "only one axis can depend on the batch, and the sizes must be positive");
  }
  return {{DType::kI32, y}};
}

OpCost MatmulIntegerCost(const NodeSignature& node) {
  const Shape& a = node.inputs[0].shape;
  return {2 * a[a.rank() - 1].size * node.outputs[0].shape.Elements()};
}

}  // namespace

OpDef matmul_integer() {
  OpDef def = Described(
      {"matmul_integer", "Multiplies matrices of 8-bit integers, with exact sums in int32.",
       "y[…, i, j] = Σₖ (a[…, i, k] − a_zero_point[i])·(b[…, k, j] − b_zero_point[j]). Leading "
       "axes stack matrices and must be equal, or one operand is a single matrix. Sums wrap around "
       "in int32. They are the same on every device and instruction set. ONNX MatMulInteger."});
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "int8 or uint8, […, m, k]"},
                {"b", "int8 or uint8, […, k, n]"},
                {"a_zero_point", "one number or [m], of the type of a"},
                {"b_zero_point", "one number or [n], of the type of b"}};
  def.outputs = {{"y", "int32, […, m, n]"}};
  def.infer = InferMatmulInteger;
  def.cost = MatmulIntegerCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
