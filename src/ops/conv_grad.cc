// Defines conv_input_grad and conv_weight_grad. Their gradients are convolutions again.
#include <optional>

#include "src/ops/conv.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ConvGradAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConvGradAttributes>()
          .Add("input", &ConvGradAttributes::input, "shape of conv's x")
          .Internal()
          .Add("kernel", &ConvGradAttributes::kernel, "as conv's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("stride", &ConvGradAttributes::stride, "as conv's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("padding", &ConvGradAttributes::padding, "as conv's")
          .Internal()
          .AllowSame()
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("dilation", &ConvGradAttributes::dilation, "as conv's")
          .Internal()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("groups", &ConvGradAttributes::groups, "as conv's")
          .Internal()
          .AtLeast(1)
          .Build();
  return schema;
}

namespace op_def {
namespace {

OpCost ConvGradCost(const NodeSignature& node, const Shape& dy) {
  const auto& attributes = node.attributes.As<ConvGradAttributes>();
  const int64_t channels = attributes.input[1].size / attributes.groups;
  return {2 * dy.Elements() * channels * attributes.kernel[0] * attributes.kernel[1]};
}
OpCost InputGradCost(const NodeSignature& node) { return ConvGradCost(node, node.inputs[0].shape); }
OpCost WeightGradCost(const NodeSignature& node) {
  return ConvGradCost(node, node.inputs[1].shape);
}

// Holds the types of a convolution, which its gradients need.
struct ConvTypes {
  TensorType x, weight, y;
};

// If no convolution has these attributes and an output like input `dy`, reports that and returns
// nothing.
std::optional<ConvTypes> TypesFor(InferContext& context, int dy) {
  const auto& attributes = context.attributes<ConvGradAttributes>();
  const Shape& input = attributes.input;
  const auto window = WindowOn(input, attributes.window());
  if (!window || context.shape(dy).rank() != 4 || input[1].size % attributes.groups != 0) {
    context.Fail("no convolution of " + input.ToString() + " makes " +
                 context.shape(dy).ToString());
    return std::nullopt;
  }
  const Dim filters = context.shape(dy)[1];
  const DType dtype = context.dtype(dy);
  return ConvTypes{
      {dtype, input},
      {dtype, ConvWeightShape(filters.size, input[1].size, attributes.groups, attributes.kernel)},
      {dtype, WindowOutput(input, filters, *window)}};
}

std::vector<TensorType> InferInputGrad(InferContext& context) {
  const auto types = TypesFor(context, 0);
  if (!types || !ExpectInput(context, 0, "dy", types->y)) return {};
  if (!ExpectInput(context, 1, "weight", types->weight)) return {};
  return {types->x};
}

std::vector<TensorType> InferWeightGrad(InferContext& context) {
  const auto types = TypesFor(context, 1);
  if (!types || !ExpectInput(context, 0, "x", types->x)) return {};
  if (!ExpectInput(context, 1, "dy", types->y)) return {};
  return {types->weight};
}

ConvAttributes ConvOf(const ConvGradAttributes& grad, int64_t filters) {
  return {filters, grad.kernel, grad.stride, grad.padding, grad.dilation, grad.groups, false};
}

// dx is linear in dy and in the weight: the transposes are conv and its gradient by the weight.
void InputGradGradient(GradientContext& context) {
  const auto& attributes = context.attributes<ConvGradAttributes>();
  const ValueId g = context.output_gradient(0), dy = context.input(0), weight = context.input(1);
  const ConvAttributes conv = ConvOf(attributes, context.input_type(0).shape[1].size);
  if (context.needs_gradient(0)) {
    context.SetInputGradient(0, context.Emit(OpId::conv, Attributes::Of(conv), {g, weight}, "ddy"));
  }
  if (context.needs_gradient(1)) {
    context.SetInputGradient(
        1, context.Emit(OpId::conv_weight_grad, context.node().attributes, {g, dy}, "dweight"));
  }
}

void WeightGradGradient(GradientContext& context) {
  const auto& attributes = context.attributes<ConvGradAttributes>();
  const ValueId g = context.output_gradient(0), x = context.input(0), dy = context.input(1);
  const ConvAttributes conv = ConvOf(attributes, context.input_type(1).shape[1].size);
  if (context.needs_gradient(0)) {
    context.SetInputGradient(
        0, context.Emit(OpId::conv_input_grad, context.node().attributes, {dy, g}, "dx"));
  }
  if (context.needs_gradient(1)) {
    context.SetInputGradient(1, context.Emit(OpId::conv, Attributes::Of(conv), {x, g}, "ddy"));
  }
}

}  // namespace

OpDef conv_input_grad() {
  OpDef def;
  def.name = "conv_input_grad";
  def.summary = "Computes the gradient of conv by its images.";
  def.details =
      "dx[n, c, …] = Σ weight[f, c, u, v]·dy[n, f, i, j] over the i, j at which conv's filter "
      "reads that element of x at u, v. The device `reference` adds in the order of u, v, f. "
      "ONNX ConvTranspose.";
  def.inputs = {{"dy", "gradient of conv's output"}, {"weight", "conv's weight"}};
  def.outputs = {{"dx", "gradient of x, of shape `input`"}};
  def.schema = &ConvGradAttributes::Schema();
  def.infer = InferInputGrad;
  def.gradient = InputGradGradient;
  def.cost = InputGradCost;
  return def;
}

OpDef conv_weight_grad() {
  OpDef def;
  def.name = "conv_weight_grad";
  def.summary = "Computes the gradient of conv by its weight.";
  def.details =
      "dweight[f, c, u, v] = Σ dy[n, f, i, j]·x[n, c', i·stride − top + u·dilation, j·stride − "
      "left "
      "+ v·dilation] over n, i, j, in this order on the device `reference`.";
  def.inputs = {{"x", "conv's images"}, {"dy", "gradient of conv's output"}};
  def.outputs = {{"dweight", "gradient of the weight"}};
  def.schema = &ConvGradAttributes::Schema();
  def.infer = InferWeightGrad;
  def.gradient = WeightGradGradient;
  def.cost = WeightGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
