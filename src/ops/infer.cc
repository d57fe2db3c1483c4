// Type inference that many operators share.
#include "src/ops/infer.h"

#include <algorithm>

namespace cgrun {

std::vector<TensorType> InferSameAsInput(InferContext& context) {
  if (!IsFloat(context.dtype(0))) {
    return context.Fail("needs a floating-point input, not " + context.input(0).ToString(),
                        "convert it with `cast` or `normalize` first");
  }
  return {context.input(0)};
}

std::vector<TensorType> InferSameNumbers(InferContext& context) {
  if (!HasArithmetic(context.dtype(0))) {
    return context.Fail("needs floats or integers, not " + context.input(0).ToString(),
                        "convert it with `cast` first");
  }
  return {context.input(0)};
}

std::vector<TensorType> InferSameAsInputs(InferContext& context) {
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i) != context.input(0)) {
      return context.Fail("inputs differ: " + context.input(0).ToString() + " and " +
                          context.input(i).ToString());
    }
  }
  return InferSameAsInput(context);
}

std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(static_cast<size_t>(rank));
  int batch_dims = 0;
  for (int i = 0; i < rank; ++i) {
    const int from_end = rank - i;
    const Dim da = from_end <= a.rank() ? a[a.rank() - from_end] : Dim(1);
    const Dim db = from_end <= b.rank() ? b[b.rank() - from_end] : Dim(1);
    if (da != db && da != Dim(1) && db != Dim(1)) return std::nullopt;
    dims[static_cast<size_t>(i)] = da == Dim(1) ? db : da;
    batch_dims += dims[static_cast<size_t>(i)].batch;
  }
  if (batch_dims > 1) return std::nullopt;
  return Shape(dims);
}

std::vector<TensorType> InferCommonShape(InferContext& context, DType dtype) {
  const std::optional<Shape> shape = BroadcastShapes(context.shape(0), context.shape(1));
  if (!shape) {
    return context.Fail("shapes " + context.shape(0).ToString() + " and " +
                            context.shape(1).ToString() + " do not go together",
                        "from the last axis on, dimensions must be equal or 1");
  }
  return {{dtype, *shape}};
}

namespace {

std::vector<TensorType> RefusePair(InferContext& context, std::string_view wanted) {
  return context.Fail("needs two " + std::string(wanted) + ", not " + context.input(0).ToString() +
                          " and " + context.input(1).ToString(),
                      "convert one with `cast`");
}

}  // namespace

std::vector<TensorType> InferBroadcast(InferContext& context) {
  if (context.dtype(0) != context.dtype(1) || !IsFloat(context.dtype(0))) {
    return RefusePair(context, "floating-point inputs of one type");
  }
  return InferCommonShape(context, context.dtype(0));
}

std::vector<TensorType> InferBroadcastNumbers(InferContext& context) {
  if (context.dtype(0) != context.dtype(1) || !HasArithmetic(context.dtype(0))) {
    return RefusePair(context, "inputs of one type, floats or integers");
  }
  return InferCommonShape(context, context.dtype(0));
}

std::vector<TensorType> InferBroadcastGrad(InferContext& context) {
  const std::vector<TensorType> forward = InferBroadcast(context);
  if (context.failed()) return {};
  if (context.input(2) != forward[0]) {
    return context.Fail("needs a gradient " + forward[0].ToString() + ", not " +
                        context.input(2).ToString());
  }
  return forward;
}

bool ExpectInput(InferContext& context, int i, std::string_view name, const TensorType& wanted) {
  if (context.input(i) == wanted) return true;
  context.Fail("`" + std::string(name) + "` must be " + wanted.ToString() + " for an input " +
               context.input(0).ToString() + ", not " + context.input(i).ToString());
  return false;
}

std::optional<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<std::vector<int>> NormalizeAxes(const IntList& axes, int rank) {
  std::vector<int> normal;
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) normal.push_back(axis);
    return normal;
  }
  for (int64_t axis : axes) {
    const std::optional<int> one = NormalizeAxis(axis, rank);
    if (!one) return std::nullopt;
    normal.push_back(*one);
  }
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end()) return std::nullopt;
  return normal;
}

std::string AxesMessage(const IntList& axes, const Shape& shape) {
  return "axes " + ToString(AttributeValue(axes)) + " do not fit " + shape.ToString() +
         ": each must be in [" + std::to_string(-shape.rank()) + ", " +
         std::to_string(shape.rank() - 1) + "] and stand once";
}

std::optional<Dim> CountElements(const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 48;  // far beyond any memory, far below an overflow
  Dim count(1);
  for (const Dim& dim : shape) {
    if (dim.size <= 0 || dim.size > kMost / count.size) return std::nullopt;
    if (dim.batch && count.batch) return std::nullopt;
    count.size *= dim.size;
    count.batch |= dim.batch;
  }
  return count;
}

OpCost NoOperations(const NodeSignature&) { return {}; }

bool IsIndex(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kI32 || dtype == DType::kI64;
}

bool HasArithmetic(DType dtype) { return IsFloat(dtype) || IsIndex(dtype); }

std::string RankMessage(std::string_view op, std::string_view wanted, const Shape& shape) {
  return "'" + std::string(op) + "' needs an input " + std::string(wanted) + ", not " +
         shape.ToString();
}

}  // namespace cgrun
