// Defines conv_integer: convolution of quantised images with exact sums.
#include "src/ops/conv_integer.h"

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/integer_product.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ConvIntegerAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ConvIntegerAttributes>()
          .Add("stride", &ConvIntegerAttributes::stride,
               "steps of the filter, down and to the right; one value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("padding", &ConvIntegerAttributes::padding,
               "zero points around each image: top, left, bottom, right; two values are [vertical, "
               "horizontal], one is for all sides; `same` pads so that there are ⌈size ÷ stride⌉ "
               "outputs, an odd row at the end")
          .ExpandTo(4)
          .AllowSame()
          .AtLeast(0)
          .AtMost(kMostWindow)
          .Add("dilation", &ConvIntegerAttributes::dilation,
               "distance between the elements that a filter reads, vertical and horizontal; one "
               "value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(kMostWindow)
          .Add("groups", &ConvIntegerAttributes::groups,
               "groups of channels, each with filters of its own; must divide the channels and "
               "the filters")
          .AtLeast(1)
          .Build();
  return schema;
}

namespace op_def {
namespace {

bool IsImages(const Shape& x) {
  return x.rank() == 4 && x[0].size > 0 && !x[1].batch && !x[2].batch && !x[3].batch;
}

bool ExpectImagesAndFilters(InferContext& context) {
  const Shape &x = context.shape(0), &weight = context.shape(1);
  const int64_t groups = context.attributes<ConvIntegerAttributes>().groups;
  if (!IsImages(x) || weight.rank() != 4 || !weight.IsBound()) {
    context.Fail("needs images [N, C, H, W] and filters [F, C ÷ groups, height, width], not " +
                 x.ToString() + " and " + weight.ToString());
  } else if (weight[1].size * groups != x[1].size || weight[0].size % groups != 0) {
    context.Fail("filters " + weight.ToString() + " in " + std::to_string(groups) +
                     " groups do not fit images " + x.ToString(),
                 "each group has channels and filters of its own, as many as the others");
  }
  return !context.failed();
}

std::vector<TensorType> InferConvInteger(InferContext& context) {
  const Shape &x = context.shape(0), &weight = context.shape(1);
  if (!ExpectBytes(context, 0) || !ExpectBytes(context, 1)) return {};
  if (!ExpectImagesAndFilters(context)) return {};
  if (!ExpectZeroPoint(context, 2, context.dtype(0), Dim(1))) return {};
  if (!ExpectZeroPoint(context, 3, context.dtype(1), weight[0])) return {};
  const auto window =
      ExpectWindow(context, context.attributes<ConvIntegerAttributes>().window(weight));
  if (!window) return {};
  const Shape y = WindowOutput(x, weight[0], *window);
  if (!CountElements(y)) return context.Fail("the result " + y.ToString() + " is too large");
  return {{DType::kI32, y}};
}

OpCost ConvIntegerCost(const NodeSignature& node) {
  const Shape& weight = node.inputs[1].shape;
  return {2 * node.outputs[0].shape.Elements() * weight[1].size * weight[2].size * weight[3].size};
}

}  // namespace

OpDef conv_integer() {
  OpDef def = Described(
      {"conv_integer", "Convolves images of 8-bit integers, with exact sums in int32.",
       "y[n, f, i, j] = Σ (weight[f, c, u, v] − weight_zero_point[f])·(x[n, c', i·stride − top + "
       "u·dilation, j·stride − left + v·dilation] − x_zero_point) over c, u, v, where c' is "
       "channel c of the group of f, and padding adds nothing. Sums wrap around in int32. They are "
       "the same on every device and instruction set. ONNX ConvInteger."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "int8 or uint8, [N, C, H, W]"},
                {"weight", "int8 or uint8, [filters, C ÷ groups, height, width]"},
                {"x_zero_point", "one number, of the type of x"},
                {"weight_zero_point", "one number or [filters], of the type of weight"}};
  def.outputs = {{"y", "int32, [N, filters, height, width]"}};
  def.schema = &ConvIntegerAttributes::Schema();
  def.infer = InferConvInteger;
  def.cost = ConvIntegerCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
