// Defines transpose, which copies a tensor with its axes in another order.
#include "src/ops/transpose.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& TransposeAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<TransposeAttributes>()
          .Add("perm", &TransposeAttributes::perm,
               "for each axis of y the axis of x that it is, the batch axis being 0; the axes "
               "reversed if none is given")
          .Build();
  return schema;
}

std::vector<int> NormalizePermutation(const IntList& perm, int rank) {
  std::vector<int> normal;
  if (perm.empty()) {
    for (int axis = rank - 1; axis >= 0; --axis) normal.push_back(axis);
    return normal;
  }
  const bool each_once = NormalizeAxes(perm, rank).has_value();
  if (!each_once || static_cast<int>(perm.size()) != rank) return {};
  for (int64_t axis : perm) normal.push_back(*NormalizeAxis(axis, rank));
  return normal;
}

namespace op_def {
namespace {

std::vector<TensorType> InferTranspose(InferContext& context) {
  const Shape& x = context.shape(0);
  const IntList& given = context.attributes<TransposeAttributes>().perm;
  const std::vector<int> perm = NormalizePermutation(given, x.rank());
  if (static_cast<int>(perm.size()) != x.rank()) {
    return context.Fail("`perm` " + ToString(AttributeValue(given)) +
                        " is no order of the axes of " + x.ToString());
  }
  std::vector<Dim> dims;
  for (int axis : perm) dims.push_back(x[axis]);
  return {{context.dtype(0), Shape(dims)}};
}

void TransposeGradient(GradientContext& context) {
  const std::vector<int> perm = NormalizePermutation(context.attributes<TransposeAttributes>().perm,
                                                     context.input_type(0).shape.rank());
  TransposeAttributes inverse;
  inverse.perm.resize(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    inverse.perm[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  }
  context.SetInputGradient(0, context.Emit(OpId::transpose, Attributes::Of(inverse),
                                           {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef transpose() {
  OpDef def;
  def.name = "transpose";
  def.summary = "Puts the axes into another order.";
  def.details = "Axis i of y is axis perm[i] of x. ONNX Transpose.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "shape of x, reordered"}};
  def.schema = &TransposeAttributes::Schema();
  def.infer = InferTranspose;
  def.gradient = TransposeGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kAnywhere;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
