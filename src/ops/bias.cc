// Defines bias, which adds one number to each channel.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/reduce.h"

namespace cgrun::op_def {
namespace {

Dim BiasChannels(const Shape& x) { return x.rank() < 2 ? Dim(1) : x[1]; }

// If x is wrong, the bias is of little use, but it lets inference report the fault.
std::vector<OwnedTensor> BiasOwned(InferContext& context) {
  if (context.num_inputs() != 1) return {};
  const Dim channels(BiasChannels(context.shape(0)).size);
  return {{"bias", {context.dtype(0), {channels}}, Role::kParameter, "zeros"}};
}

std::vector<TensorType> InferBias(InferContext& context) {
  const Shape& x = context.shape(0);
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  if (x.rank() < 2 || BiasChannels(x).batch) {
    return context.Fail(RankMessage("bias", "[N, channels, …]", x));
  }
  if (!ExpectInput(context, 1, "bias", {context.dtype(0), {BiasChannels(x)}})) return {};
  return {context.input(0)};
}

void BiasGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  context.SetInputGradient(0, dy);
  if (!context.needs_gradient(1)) return;
  ReduceAttributes sum;
  for (int axis = 0; axis < context.input_type(0).shape.rank(); ++axis) {
    if (axis != 1) sum.axes.push_back(axis);
  }
  context.SetInputGradient(
      1, context.Emit(OpId::reduce_sum, Attributes::Of(std::move(sum)), {dy}, "dbias"));
}

}  // namespace

OpDef bias() {
  OpDef def;
  def.name = "bias";
  def.summary = "Adds a learned number to each channel.";
  def.details =
      "y[n, c, …] = x[n, c, …] + bias[c]. The bias starts at 0 unless `init` says otherwise. "
      "ONNX Add with an operand [C, 1, …].";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[N, channels, …]"}, {"bias", "[channels], owned"}};
  def.outputs = {{"y", "shape of x"}};
  def.infer = InferBias;
  def.owned = BiasOwned;
  def.gradient = BiasGradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace cgrun::op_def
