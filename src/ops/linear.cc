// Defines linear: a fully connected layer. Its gradients are matrix products and a sum.
#include "src/ops/linear.h"

#include <algorithm>

#include "src/ops/infer.h"
#include "src/ops/matmul.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun {

const AttributeSchema& LinearAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<LinearAttributes>()
          .Add("units", &LinearAttributes::units, "number of outputs for each row of x")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 30)
          .Add("bias", &LinearAttributes::bias, "add a learned vector of `units` numbers")
          .Build();
  return schema;
}

namespace op_def {
namespace {

Dim Features(const Shape& x) { return x.rank() == 0 ? Dim(1) : x[x.rank() - 1]; }

// If x is wrong, these tensors are of little use, but they let inference report the fault.
std::vector<OwnedTensor> LinearOwned(InferContext& context) {
  if (context.num_inputs() != 1) return {};
  const auto& attributes = context.attributes<LinearAttributes>();
  const DType dtype = context.dtype(0);
  const int64_t features = Features(context.shape(0)).size;
  std::vector<OwnedTensor> owned = {{"weight",
                                     {dtype, {attributes.units, features}},
                                     Role::kParameter,
                                     "glorot_uniform",
                                     features,
                                     attributes.units}};
  if (attributes.bias) {
    owned.push_back({"bias", {dtype, {attributes.units}}, Role::kParameter, "zeros"});
  }
  return owned;
}

std::vector<TensorType> InferLinear(InferContext& context) {
  const auto& attributes = context.attributes<LinearAttributes>();
  const DType dtype = context.dtype(0);
  const Shape& x = context.shape(0);
  if (!IsFloat(dtype)) return InferSameAsInput(context);
  if (x.rank() < 2 || Features(x).batch) {
    return context.Fail(RankMessage("linear", "[N, …, features]", x),
                        "the first axis is the batch; the last one is multiplied by the weight");
  }
  const int wanted = attributes.bias ? 3 : 2;
  if (context.num_inputs() != wanted) {
    return context.Fail(std::string("reads x, weight") + (attributes.bias ? " and bias" : "") +
                        ", not " + std::to_string(context.num_inputs()) + " inputs");
  }
  if (!ExpectInput(context, 1, "weight", {dtype, {attributes.units, Features(x)}})) return {};
  if (attributes.bias && !ExpectInput(context, 2, "bias", {dtype, {attributes.units}})) return {};
  Shape y = x;
  y[y.rank() - 1] = Dim(attributes.units);
  if (!CountElements(y) || !CountElements(context.shape(1))) {
    return context.Fail("an output " + y.ToString() + " with a weight " +
                        context.shape(1).ToString() + " is too large");
  }
  return {{dtype, y}};
}

void LinearGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  if (context.needs_gradient(0)) {
    context.SetInputGradient(0, context.Emit(OpId::matmul, Attributes::Of(MatmulAttributes()),
                                             {dy, context.input(1)}, "dx"));
  }
  if (context.needs_gradient(1)) {
    const ValueId dy_rows = EmitFlattenRows(context, dy);
    const ValueId x_rows = EmitFlattenRows(context, context.input(0));
    context.SetInputGradient(
        1, context.Emit(OpId::matmul, Attributes::Of(MatmulAttributes{true, false}),
                        {dy_rows, x_rows}, "dweight"));
  }
  if (context.num_inputs() == 3 && context.needs_gradient(2)) {
    context.SetInputGradient(2, ReduceToShape(context, dy, context.input_type(2).shape));
  }
}

OpCost LinearCost(const NodeSignature& node) {
  const int64_t outputs = node.outputs[0].shape.Elements();
  const int64_t bias = static_cast<int64_t>(node.inputs.size()) - 2;
  return {outputs * (2 * Features(node.inputs[0].shape).size + bias)};
}

}  // namespace

OpDef linear() {
  OpDef def;
  def.name = "linear";
  def.summary = "Multiplies each sample by a learned matrix (a fully connected layer).";
  def.details =
      "y = x·weightᵀ + bias on the last axis of x. The weight starts as `glorot_uniform`, the bias "
      "at 0, unless `init` says otherwise. A stack of images must be flattened first. The device "
      "`reference` adds in the order of the features, in f64 for f64 and in f32 for other types, "
      "then adds the bias and rounds once. ONNX Gemm (MatMul and Add where x has more than two "
      "axes).";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[N, …, features]"},
                {"weight", "[units, features], owned: PyTorch's order"},
                {"bias", "[units], owned; absent with `bias: false`", Arity::kOptional}};
  def.outputs = {{"y", "[N, …, units]"}};
  def.schema = &LinearAttributes::Schema();
  def.infer = InferLinear;
  def.owned = LinearOwned;
  def.gradient = LinearGradient;
  def.cost = LinearCost;
  def.narrow = Narrow::kAlways;
  def.units = "units";
  return def;
}

}  // namespace op_def
}  // namespace cgrun
