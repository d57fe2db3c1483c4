// Defines random_resized_crop, which takes another part of each sample and resizes it, and its
// gradient. The choice of the part is a pure function of key, step and sample. So the gradient
// finds the same part.
#include "src/ops/random_resized_crop.h"

#include <algorithm>

#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> ResizedCropSchema() {
  SchemaBuilder<T> builder;
  builder.Add("size", &T::size, "height and width of y; one value for both")
      .Required()
      .ExpandTo(2)
      .AtLeast(1)
      .AtMost(1 << 20)
      .Add("scale", &T::scale, "part of the image's area that is kept: `[least, most]`")
      .Add("ratio", &T::ratio, "width of what is kept divided by its height: `[least, most]`")
      .Add("key", &T::key, "key of the random numbers")
      .Internal()
      .Add("varied", &T::varied, "whether parts are drawn, not taken from the middle")
      .Internal();
  return builder;
}

}  // namespace

const AttributeSchema& RandomResizedCropAttributes::Schema() {
  static const AttributeSchema schema = ResizedCropSchema<RandomResizedCropAttributes>().Build();
  return schema;
}

const AttributeSchema& RandomResizedCropGradAttributes::Schema() {
  static const AttributeSchema schema = ResizedCropSchema<RandomResizedCropGradAttributes>()
                                            .Add("shape", &RandomResizedCropGradAttributes::shape,
                                                 "shape of the input of random_resized_crop")
                                            .Internal()
                                            .Build();
  return schema;
}

// If no part fits, returns the one in the middle whose ratio is allowed.
Box CropChoice::BoxOf(uint64_t step, int64_t n, int64_t height, int64_t width) const {
  if (!varied) return MiddleBox(shape_ratio, height, width);
  if (const std::optional<Box> box = DrawBox(range, key, step, n, height, width)) return *box;
  const double whole = static_cast<double>(width) / static_cast<double>(height);
  return MiddleBox(std::clamp(whole, range.least_ratio, range.most_ratio), height, width);
}

namespace op_def {
namespace {

// Returns the shape of what is made of images of shape `x`, and reports what is wrong.
template <class A>
std::optional<Shape> ShapeOf(InferContext& context, const A& a, const Shape& x) {
  if (!ExpectImages(context, "random_resized_crop", x)) return std::nullopt;
  const std::string fault = FaultOfBoxRange(a.scale, a.ratio);
  if (a.size.size() != 2) {
    context.Fail("`size` needs 2 numbers");
  } else if (!fault.empty()) {
    context.Fail(fault);
  }
  if (context.failed()) return std::nullopt;
  Shape y = x;
  for (int i : {0, 1}) y[x.rank() - 2 + i] = Dim(a.size[static_cast<size_t>(i)]);
  if (CountElements(y)) return y;
  context.Fail("the result " + y.ToString() + " is too large");
  return std::nullopt;
}

std::vector<TensorType> InferRandomResizedCrop(InferContext& context) {
  if (!ExpectPixels(context)) return {};
  const auto shape =
      ShapeOf(context, context.attributes<RandomResizedCropAttributes>(), context.shape(0));
  if (!shape || !ExpectStep(context)) return {};
  return {{context.dtype(0), *shape}};
}

void RandomResizedCropGradient(GradientContext& context) {
  const TensorType x = context.input_type(0);
  if (!IsFloat(x.dtype)) return;
  const auto& a = context.attributes<RandomResizedCropAttributes>();
  const RandomResizedCropGradAttributes attributes{a.size, a.scale,  a.ratio,
                                                   a.key,  a.varied, x.shape};
  context.SetInputGradient(0,
                           context.Emit(OpId::random_resized_crop_grad, Attributes::Of(attributes),
                                        {context.output_gradient(0), context.input(1)}, "grad"));
}

std::vector<TensorType> InferRandomResizedCropGrad(InferContext& context) {
  const auto& a = context.attributes<RandomResizedCropGradAttributes>();
  const auto y = ShapeOf(context, a, a.shape);
  if (!y) return {};
  if (!CountElements(a.shape)) return context.Fail(a.shape.ToString() + " is too large");
  if (!IsFloat(context.dtype(0)) || context.shape(0) != *y) {
    return context.Fail("needs a floating-point gradient of shape " + y->ToString() + ", not " +
                        context.input(0).ToString());
  }
  if (!ExpectStep(context)) return {};
  return {{context.dtype(0), a.shape}};
}

OpCost RandomResizedCropCost(const NodeSignature& node) {
  return {9 * node.outputs[0].shape.Elements()};
}
OpCost RandomResizedCropGradCost(const NodeSignature& node) {
  return {8 * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef random_resized_crop() {
  OpDef def;
  def.name = "random_resized_crop";
  def.summary = "Takes a random part of each image, resized, while training.";
  def.details =
      "While training a part of each sample becomes y: its area is a part of the image's from "
      "`scale`, equally likely, its width divided by its height from `ratio`, equally likely in "
      "the logarithm, its place is any; each sample draws its own at each step, one for all its "
      "channels, in paths of mode `forward` too. Where ten that are drawn do not fit, the largest "
      "one in the middle whose ratio is allowed. In evaluation the part is the largest one in the "
      "middle with the ratio of `size`. Parts are resized as by `resize`, bilinear and without "
      "antialiasing; pixels outside the part take no part. What is drawn depends on the run's "
      "seed, the operator's name, the step and the place in the batch alone (Philox4x32-10). "
      "torchvision RandomResizedCrop.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], uint8 or floating-point"},
                {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "[N, …, `size`], type of x"}};
  def.schema = &RandomResizedCropAttributes::Schema();
  def.infer = InferRandomResizedCrop;
  def.gradient = RandomResizedCropGradient;
  def.cost = RandomResizedCropCost;
  def.needs_step = true;
  def.moves = Moves::kWithin;
  def.draws_places = true;
  return def;
}

OpDef random_resized_crop_grad() {
  OpDef def;
  def.name = "random_resized_crop_grad";
  def.summary = "Computes the gradient of random_resized_crop.";
  def.details =
      "Each pixel of dy is spread with the weights with which random_resized_crop read its pixels, "
      "added in the order of dy in f64 and rounded once; 0 outside the part.";
  def.inputs = {{"dy", "gradient of y"}, {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &RandomResizedCropGradAttributes::Schema();
  def.infer = InferRandomResizedCropGrad;
  def.cost = RandomResizedCropGradCost;
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
