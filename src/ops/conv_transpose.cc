// Defines conv_transpose: the transpose of a convolution, which makes images larger. y is to x what
// the images of a conv are to its output, so that the gradients are conv's nodes.
#include "src/ops/conv_transpose.h"

#include <algorithm>

#include "src/ops/builders.h"
#include "src/ops/conv.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/pad.h"
#include "src/ops/slice.h"

namespace cgrun {

const AttributeSchema& ConvTransposeAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConvTransposeAttributes>()
          .Add("filters", &ConvTransposeAttributes::filters, "number of output channels")
          .Required()
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("kernel", &ConvTransposeAttributes::kernel,
               "height and width of a filter; one value for both")
          .Required()
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("stride", &ConvTransposeAttributes::stride,
               "distance in y between what neighbours in x make, down and to the right; one value "
               "for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("padding", &ConvTransposeAttributes::padding,
               "rows and columns that are cut off y: top, left, bottom, right; two values are "
               "[vertical, horizontal], one is for all sides; it is the padding of the convolution "
               "that goes back")
          .ExpandTo(4)
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("output_padding", &ConvTransposeAttributes::output_padding,
               "rows below and columns to the right that are added to y; less than the stride or "
               "the dilation; one value for both")
          .ExpandTo(2)
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("dilation", &ConvTransposeAttributes::dilation,
               "distance between the elements that a filter writes, vertical and horizontal; one "
               "value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("groups", &ConvTransposeAttributes::groups,
               "groups of channels, each with filters of its own; must divide the channels and "
               "`filters`")
          .AtLeast(1)
          .Add("bias", &ConvTransposeAttributes::bias,
               "add a learned number to each output channel")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// The weight is [channels, filters of a group, height, width].
ConvTensors TensorsOf(const ConvTransposeAttributes& attributes, int64_t channels) {
  const Shape weight = {channels, std::max<int64_t>(1, attributes.filters / attributes.groups),
                        attributes.kernel[0], attributes.kernel[1]};
  return {weight, channels, attributes.filters, attributes.bias};
}

// If x is wrong, these tensors are of little use, but they let inference report the fault.
std::vector<OwnedTensor> ConvTransposeOwned(InferContext& context) {
  const auto& attributes = context.attributes<ConvTransposeAttributes>();
  if (context.num_inputs() != 1 || attributes.kernel.size() != 2) return {};
  const DType dtype = context.dtype(0);
  const int64_t channels = context.shape(0).rank() == 4 ? context.shape(0)[1].size : 1;
  return OwnedOf(TensorsOf(attributes, channels), dtype);
}

// Returns an empty message if the attributes fit the images.
std::string FaultOfAttributes(const ConvTransposeAttributes& attributes, const Shape& x) {
  if (attributes.kernel.size() != 2 || attributes.stride.size() != 2 ||
      attributes.dilation.size() != 2 || attributes.output_padding.size() != 2 ||
      attributes.padding.size() != 4) {
    return "`kernel`, `stride`, `output_padding` and `dilation` need 2 sizes, `padding` 4";
  }
  if (x[1].size % attributes.groups != 0 || attributes.filters % attributes.groups != 0) {
    return "groups=" + std::to_string(attributes.groups) +
           " does not divide both the channels of " + x.ToString() +
           " and filters=" + std::to_string(attributes.filters);
  }
  for (size_t i : {0u, 1u}) {
    const int64_t limit = std::max(attributes.stride[i], attributes.dilation[i]);
    if (attributes.output_padding[i] < limit) continue;
    return "`output_padding` " + std::to_string(attributes.output_padding[i]) +
           " must be less than the stride or the dilation, " + std::to_string(limit);
  }
  return "";
}

// Rows (axis 0) or columns (axis 1) of y. Far from an overflow: sizes are at most 2^24 and 2^32.
int64_t OutputSize(const ConvTransposeAttributes& attributes, const Shape& x, int axis) {
  const auto at = static_cast<size_t>(axis);
  return (x[axis + 2].size - 1) * attributes.stride[at] - attributes.padding[at] -
         attributes.padding[at + 2] + attributes.dilation[at] * (attributes.kernel[at] - 1) +
         attributes.output_padding[at] + 1;
}

std::vector<TensorType> InferConvTranspose(InferContext& context) {
  constexpr int64_t kMostSize = int64_t{1} << 32;
  if (!ExpectImages(context, "conv_transpose")) return {};
  const auto& attributes = context.attributes<ConvTransposeAttributes>();
  const Shape& x = context.shape(0);
  const std::string fault = FaultOfAttributes(attributes, x);
  if (!fault.empty()) return context.Fail(fault);
  if (x[2].size > kMostSize || x[3].size > kMostSize) {
    return context.Fail("images of " + x.ToString() + " are too large");
  }
  if (!ExpectTensors(context, TensorsOf(attributes, x[1].size))) return {};
  const Shape y = {x[0], attributes.filters, OutputSize(attributes, x, 0),
                   OutputSize(attributes, x, 1)};
  if (y[2].size < 1 || y[3].size < 1) {
    return context.Fail("`padding` " + ToString(AttributeValue(attributes.padding)) +
                        " leaves nothing of the output of " + x.ToString());
  }
  return InferOutput(context, y);
}

// Describes the convolution from y to x. If `output_padding` reaches the stride, it makes rows and
// columns that x does not have.
struct Inverse {
  ConvAttributes conv;
  ConvGradAttributes grad;
  Shape result;  // of the convolution
};

Inverse InverseOf(const ConvTransposeAttributes& a, const Shape& x, const Shape& y) {
  Inverse inverse;
  inverse.conv = {x[1].size, a.kernel, a.stride, a.padding, a.dilation, a.groups, false};
  inverse.grad = {y, a.kernel, a.stride, a.padding, a.dilation, a.groups};
  inverse.result = WindowOutput(y, x[1], WindowOf(y, a.window()));
  return inverse;
}

void ConvTransposeGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  const Shape x = context.input_type(0).shape, y = context.graph().values[dy].type.shape;
  const Inverse inverse = InverseOf(context.attributes<ConvTransposeAttributes>(), x, y);
  if (context.needs_gradient(0)) {
    ValueId dx =
        context.Emit(OpId::conv, Attributes::Of(inverse.conv), {dy, context.input(1)}, "dx");
    if (inverse.result != x) {
      const SliceAttributes part{{2, 3}, {0, 0}, {x[2].size, x[3].size}, {}};
      dx = context.Emit(OpId::slice, Attributes::Of(part), {dx}, "dx.part");
    }
    context.SetInputGradient(0, dx);
  }
  if (context.needs_gradient(1)) {
    ValueId images = context.input(0);
    if (inverse.result != x) {
      const PadAttributes frame{
          {2, 3},
          {0, 0},
          {inverse.result[2].size - x[2].size, inverse.result[3].size - x[3].size},
          0};
      images = context.Emit(OpId::pad, Attributes::Of(frame), {images}, "x.padded");
    }
    context.SetInputGradient(1, context.Emit(OpId::conv_weight_grad, Attributes::Of(inverse.grad),
                                             {dy, images}, "dweight"));
  }
  SetBiasGradient(context);
}

OpCost ConvTransposeCost(const NodeSignature& node) {
  const Shape& weight = node.inputs[1].shape;
  const int64_t taps = weight[1].size * weight[2].size * weight[3].size;
  const bool bias = node.inputs.size() == 3;
  return {2 * node.inputs[0].shape.Elements() * taps +
          (bias ? node.outputs[0].shape.Elements() : 0)};
}

}  // namespace

OpDef conv_transpose() {
  OpDef def = ConvOp(
      {"conv_transpose", "Applies a transposed convolution, which makes images larger.",
       "y[n, f, i·stride - top + u·dilation, j·stride - left + v·dilation] is the sum of weight[c, "
       "f', u, v]·x[n, c, i, j] over all c of the group of f and all i, j, u, v that meet there, "
       "plus bias[f]; f' is f within its group. A side of y has (side of x - 1)·stride - padding + "
       "dilation·(kernel - 1) + output_padding + 1 elements. The weight starts as `he_normal`, the "
       "bias at 0, unless `init` says otherwise; fan_in is filters ÷ groups × height × width, as "
       "PyTorch counts it. The device `reference` adds in the order of u, v, c, in f64 for f64 and "
       "in f32 for other types, then adds the bias and rounds once; where a weight is not finite, "
       "it "
       "may make NaN of elements that it does not reach. PyTorch ConvTranspose2d; ONNX "
       "ConvTranspose."},
      "[channels, filters ÷ groups, height, width], owned: PyTorch's order");
  def.schema = &ConvTransposeAttributes::Schema();
  def.infer = InferConvTranspose;
  def.owned = ConvTransposeOwned;
  def.gradient = ConvTransposeGradient;
  def.cost = ConvTransposeCost;
  def.units = "filters";
  return def;
}

}  // namespace op_def
}  // namespace cgrun
