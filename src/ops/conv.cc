// Defines conv: two-dimensional convolution of images. Its gradients are operators of their own.
#include "src/ops/conv.h"

#include <algorithm>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ConvAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConvAttributes>()
          .Add("filters", &ConvAttributes::filters, "number of output channels")
          .Required()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("kernel", &ConvAttributes::kernel,
               "height and width of a filter; one value for both")
          .Required()
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("stride", &ConvAttributes::stride,
               "steps of the filter, down and to the right; one value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("padding", &ConvAttributes::padding,
               "zeros around each image: top, left, bottom, right; two values are [vertical, "
               "horizontal], one is for all sides; `same` pads so that there are ⌈size ÷ stride⌉ "
               "outputs, an odd row at the end")
          .ExpandTo(4)
          .AllowSame()
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("dilation", &ConvAttributes::dilation,
               "distance between the elements that a filter reads, vertical and horizontal; one "
               "value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("groups", &ConvAttributes::groups,
               "groups of channels, each with filters of its own; must divide the channels and "
               "`filters`; as many as channels: depthwise")
          .AtLeast(1)
          .Add("bias", &ConvAttributes::bias, "add a learned number to each output channel")
          .Build();
  return schema;
}

Shape ConvWeightShape(int64_t filters, int64_t channels, int64_t groups, const IntList& kernel) {
  return {filters, std::max<int64_t>(1, channels / groups), kernel[0], kernel[1]};
}

namespace op_def {
namespace {

ConvTensors TensorsOf(const ConvAttributes& attributes, int64_t channels) {
  return {ConvWeightShape(attributes.filters, channels, attributes.groups, attributes.kernel),
          attributes.filters, attributes.filters, attributes.bias};
}

// If x is wrong, these tensors are of little use, but they let inference report the fault.
std::vector<OwnedTensor> ConvOwned(InferContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  if (context.num_inputs() != 1 || attributes.kernel.size() != 2) return {};
  const DType dtype = context.dtype(0);
  const int64_t channels = context.shape(0).rank() == 4 ? context.shape(0)[1].size : 1;
  return OwnedOf(TensorsOf(attributes, channels), dtype);
}

bool ExpectGroups(InferContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const int64_t channels = context.shape(0)[1].size;
  if (channels % attributes.groups == 0 && attributes.filters % attributes.groups == 0) return true;
  context.Fail("groups=" + std::to_string(attributes.groups) +
                   " does not divide both the channels of " + context.shape(0).ToString() +
                   " and filters=" + std::to_string(attributes.filters),
               "each group has channels and filters of its own, as many as the others");
  return false;
}

std::vector<TensorType> InferConv(InferContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  if (!ExpectImages(context, "conv") || !ExpectGroups(context)) return {};
  const auto window = ExpectWindow(context, attributes.window());
  if (!window) return {};
  if (!ExpectTensors(context, TensorsOf(attributes, context.shape(0)[1].size))) return {};
  return InferOutput(context, WindowOutput(context.shape(0), attributes.filters, *window));
}

void ConvGradient(GradientContext& context) {
  const auto attributes = context.attributes<ConvAttributes>();
  const Attributes grad = Attributes::Of(
      ConvGradAttributes{context.input_type(0).shape, attributes.kernel, attributes.stride,
                         attributes.padding, attributes.dilation, attributes.groups});
  const ValueId dy = context.output_gradient(0);
  if (context.needs_gradient(0)) {
    context.SetInputGradient(
        0, context.Emit(OpId::conv_input_grad, grad, {dy, context.input(1)}, "dx"));
  }
  if (context.needs_gradient(1)) {
    context.SetInputGradient(
        1, context.Emit(OpId::conv_weight_grad, grad, {context.input(0), dy}, "dweight"));
  }
  SetBiasGradient(context);
}

OpCost ConvCost(const NodeSignature& node) {
  const Shape& weight = node.inputs[1].shape;
  const int64_t taps = weight[1].size * weight[2].size * weight[3].size;
  const int64_t bias = static_cast<int64_t>(node.inputs.size()) - 2;
  return {node.outputs[0].shape.Elements() * (2 * taps + bias)};
}

}  // namespace

OpDef conv() {
  OpDef def = ConvOp(
      {"conv", "Convolves images in two dimensions.",
       "y[n, f, i, j] = bias[f] + Σ weight[f, c, u, v]·x[n, c', i·stride − top + u·dilation, "
       "j·stride "
       "− left + v·dilation] over c, u, v, where c' is channel c of the group of f, and x is 0 "
       "outside its images (the filter is not flipped). The weight starts as `he_normal`, the bias "
       "at 0, unless `init` says otherwise; fan_in is channels ÷ groups × height × width, fan_out "
       "filters × height × width. Each "
       "filter element counts as a multiply-add in the costs, on padding too. The device "
       "`reference` "
       "adds in the order of c, u, v, in f64 for f64 and in f32 for other types, then adds the "
       "bias "
       "and rounds once. ONNX Conv."},
      "[filters, channels ÷ groups, height, width], owned: PyTorch's order");
  def.schema = &ConvAttributes::Schema();
  def.infer = InferConv;
  def.owned = ConvOwned;
  def.gradient = ConvGradient;
  def.cost = ConvCost;
  def.units = "filters";
  return def;
}

}  // namespace op_def
}  // namespace cgrun
