// Defines resize, which gives images another size, and its gradient.
#include "src/ops/resize.h"

#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ResizeAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ResizeAttributes>()
          .Add("size", &ResizeAttributes::size, "[height, width] of y; or `scale`")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(1 << 20)
          .Add("mode", &ResizeAttributes::mode, "how elements between those of x are found")
          .Choices({"nearest", "bilinear"})
          .Add("scale", &ResizeAttributes::scale,
               "height and width of y divided by those of x; one value for both")
          .ExpandTo(2)
          .AtLeast(1)
          .AtMost(1 << 14)
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferResize(InferContext& context) {
  const auto& attributes = context.attributes<ResizeAttributes>();
  const Shape& x = context.shape(0);
  if (x.rank() != 4) return context.Fail(RankMessage("resize", "[N, C, H, W]", x));
  const bool by_size = !attributes.size.empty();
  if (by_size != attributes.scale.empty()) {
    return context.Fail("needs `size` or `scale`, and not both", "for example `size: [224, 224]`");
  }
  const IntList& given = by_size ? attributes.size : attributes.scale;
  if (given.size() != 2) {
    return context.Fail(by_size ? "`size` must be [height, width]"
                                : "`scale` must be [vertical, horizontal]");
  }
  if (!ExpectPixels(context)) return {};
  if (x[2].batch || x[3].batch) return context.Fail("height and width cannot be the batch axis");
  const Shape shape = by_size ? Shape{x[0], x[1], given[0], given[1]}
                              : Shape{x[0], x[1], x[2].size * given[0], x[3].size * given[1]};
  if (!CountElements(shape))
    return context.Fail("the result " + shape.ToString() + " is too large");
  return {{context.dtype(0), shape}};
}

std::vector<TensorType> InferResizeGrad(InferContext& context) {
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  return InferResize(context);
}

// Each is the other's gradient, with the size of the input.
template <OpId kGradient>
void ResizeGradient(GradientContext& context) {
  const TensorType type = context.input_type(0);
  if (!IsFloat(type.dtype)) return;
  ResizeAttributes attributes = context.attributes<ResizeAttributes>();
  attributes.size = {type.shape[2].size, type.shape[3].size};
  attributes.scale.clear();
  context.SetInputGradient(
      0, context.Emit(kGradient, Attributes::Of(attributes), {context.output_gradient(0)}, "grad"));
}

// Bilinear mode takes three interpolations of three operations each.
OpCost ResizeCost(const NodeSignature& node) {
  const bool bilinear = node.attributes.As<ResizeAttributes>().mode == "bilinear";
  return {bilinear ? 9 * node.outputs[0].shape.Elements() : 0};
}

OpCost ResizeGradCost(const NodeSignature& node) {
  const bool bilinear = node.attributes.As<ResizeAttributes>().mode == "bilinear";
  return {(bilinear ? 8 : 1) * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef resize() {
  OpDef def;
  def.name = "resize";
  def.summary = "Resizes images.";
  def.details =
      "Pixel centres lie at halves: pixel i of y takes x at (i + 0.5)·(size of x / size of y) - "
      "0.5, "
      "kept within x. nearest: the nearest pixel, the first of two. bilinear: between the four "
      "around it, without antialiasing, computed in f64 and rounded once (uint8: to nearest, "
      "halves "
      "up). ONNX Resize, half_pixel; Keras UpSampling2D.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[N, C, H, W], uint8 or floating-point"}};
  def.outputs = {{"y", "[N, C, height, width], type of x"}};
  def.schema = &ResizeAttributes::Schema();
  def.infer = InferResize;
  def.gradient = ResizeGradient<OpId::resize_grad>;
  def.cost = ResizeCost;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

OpDef resize_grad() {
  OpDef def;
  def.name = "resize_grad";
  def.summary = "Computes the gradient of resize.";
  def.details =
      "Each pixel of dy is spread with the weights with which resize read its pixels, added in the "
      "order of dy in f64 and rounded once.";
  def.inputs = {{"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x, of height and width `size`"}};
  def.schema = &ResizeAttributes::Schema();
  def.infer = InferResizeGrad;
  def.gradient = ResizeGradient<OpId::resize>;
  def.cost = ResizeGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
