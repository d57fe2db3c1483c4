// Defines roi_align and its gradient. It takes the same number of features from each box, whatever
// the size of the box.
#include "src/ops/roi_align.h"

#include "src/ops/box_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> SharedSchema() {
  SchemaBuilder<T> builder;
  builder.Add("size", &T::size, "height and width of y; one value for both")
      .Required()
      .ExpandTo(2)
      .AtLeast(1)
      .AtMost(1 << 10)
      .Add("strides", &T::strides,
           "of each map, pixels of the image from one of its elements to the next, the finest "
           "map first")
      .Required()
      .AtLeast(1)
      .AtMost(1 << 20)
      .Add("sampling_ratio", &T::sampling_ratio,
           "samples in an element of y, down and to the right")
      .AtLeast(1)
      .AtMost(16)
      .Add("aligned", &T::aligned,
           "whether the centre of a pixel lies at halves; if not, it lies at whole numbers, and "
           "boxes are at least an element wide and high");
  return builder;
}

}  // namespace

const AttributeSchema& RoiAlignAttributes::Schema() {
  static const AttributeSchema schema = SharedSchema<RoiAlignAttributes>().Build();
  return schema;
}

const AttributeSchema& RoiAlignGradAttributes::Schema() {
  static const AttributeSchema schema =
      SharedSchema<RoiAlignGradAttributes>()
          .Add("map", &RoiAlignGradAttributes::map, "which map the gradient is of")
          .Internal()
          .AtLeast(0)
          .Add("shape", &RoiAlignGradAttributes::shape, "shape of that map")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Returns whether the strides are of `maps` maps, each coarser than the one before.
bool CheckStrides(InferContext& context, const IntList& strides, size_t maps) {
  if (strides.size() != maps) {
    context.Fail("`strides` has " + std::to_string(strides.size()) + " numbers for " +
                     std::to_string(maps) + (maps == 1 ? " map" : " maps"),
                 "`in` names the boxes, then a map for each stride");
    return false;
  }
  for (size_t i = 1; i < maps; ++i) {
    if (strides[i] > strides[i - 1]) continue;
    context.Fail("`strides` must grow, and " + std::to_string(strides[i]) + " comes behind " +
                 std::to_string(strides[i - 1]));
    return false;
  }
  return true;
}

// Boxes [N, boxes, 4] and one map of the same N.
bool CheckMap(InferContext& context, const Shape& boxes, const Shape& map) {
  if (boxes.rank() != 3 || boxes[1].batch || boxes[2] != Dim(4)) {
    context.Fail("needs boxes [N, boxes, 4], not " + boxes.ToString());
    return false;
  }
  const bool is_map = map.rank() == 4 && !map[1].batch && !map[2].batch && !map[3].batch;
  if (!is_map || map[0] != boxes[0]) {
    context.Fail("needs maps [" + boxes[0].ToString() + ", channels, height, width] for boxes " +
                 boxes.ToString() + ", not " + map.ToString());
    return false;
  }
  return true;
}

// [boxes·N, channels, height, width].
std::vector<TensorType> TypeOf(InferContext& context, const IntList& size, const Shape& map) {
  if (size.size() != 2) return context.Fail("`size` must be [height, width]");
  const Shape& boxes = context.shape(0);
  Dim regions = boxes[0];
  if (__builtin_mul_overflow(regions.size, boxes[1].size, &regions.size)) regions.size = 0;
  const Shape shape{regions, map[1], size[0], size[1]};
  if (!CountElements(shape)) {
    return context.Fail("the result for boxes " + boxes.ToString() + " is too large");
  }
  return {{context.dtype(0), shape}};
}

std::vector<TensorType> InferRoiAlign(InferContext& context) {
  const auto& attributes = context.attributes<RoiAlignAttributes>();
  const int inputs = context.num_inputs();
  if (!ExpectCoordinates(context, inputs)) return {};
  if (!CheckStrides(context, attributes.strides, static_cast<size_t>(inputs - 1))) return {};
  for (int i = 1; i < inputs; ++i) {
    if (!CheckMap(context, context.shape(0), context.shape(i))) return {};
    if (context.shape(i)[1] == context.shape(1)[1]) continue;
    return context.Fail("maps differ in channels: " + context.shape(1).ToString() + " and " +
                        context.shape(i).ToString());
  }
  return TypeOf(context, attributes.size, context.shape(1));
}

// Boxes are taken as they are: no gradient flows to them.
void RoiAlignGradient(GradientContext& context) {
  const auto& a = context.attributes<RoiAlignAttributes>();
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (!context.needs_gradient(i)) continue;
    const RoiAlignGradAttributes attributes{a.size,    a.strides, a.sampling_ratio,
                                            a.aligned, i - 1,     context.input_type(i).shape};
    context.SetInputGradient(
        i, context.Emit(OpId::roi_align_grad, Attributes::Of(attributes),
                        {context.input(0), context.output_gradient(0)}, "dx" + std::to_string(i)));
  }
}

std::vector<TensorType> InferRoiAlignGrad(InferContext& context) {
  const auto& attributes = context.attributes<RoiAlignGradAttributes>();
  const size_t maps = attributes.strides.size();
  if (!ExpectCoordinates(context, 2) || !CheckStrides(context, attributes.strides, maps)) return {};
  if (attributes.map >= static_cast<int64_t>(maps)) {
    return context.Fail("there is no map " + std::to_string(attributes.map));
  }
  if (!CheckMap(context, context.shape(0), attributes.shape)) return {};
  const std::vector<TensorType> y = TypeOf(context, attributes.size, attributes.shape);
  if (context.failed()) return {};
  if (!ExpectShape(context, 1, "`dy`", y[0].shape, "boxes " + context.shape(0).ToString())) {
    return {};
  }
  return {{context.dtype(0), attributes.shape}};
}

// Each sample takes four products with the weights of its four neighbours, and four sums.
int64_t SampleFlops(const RoiAlignAttributes& attributes, const Shape& y) {
  return y.Elements() * attributes.sampling_ratio * attributes.sampling_ratio * 8;
}

OpCost RoiAlignCost(const NodeSignature& node) {
  return {SampleFlops(node.attributes.As<RoiAlignAttributes>(), node.outputs[0].shape)};
}

// Each box is of one map. If there are several maps, this is the share of one.
OpCost RoiAlignGradCost(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<RoiAlignGradAttributes>();
  return {SampleFlops(attributes.forward(), node.inputs[1].shape) / std::ssize(attributes.strides)};
}

}  // namespace

OpDef roi_align() {
  OpDef def;
  def.name = "roi_align";
  def.summary = "Takes features of a fixed size from each box of an image.";
  def.details =
      "y[n·boxes + b, c] is box b of image n as height × width numbers: each is the mean of "
      "sampling_ratio × sampling_ratio samples, evenly spread over its part of the box, each found "
      "between the four elements of a map around it (bilinear). A sample up to one element outside "
      "of the map has the value at its edge, one further away is 0. Boxes are [x1, y1, x2, y2] in "
      "pixels of the image. Of several maps (a feature pyramid) a box reads the last one whose "
      "stride is at most √(width·height) ÷ 14, or else the first: one of 224 × 224 pixels that of "
      "stride 16 (Lin et al., Feature Pyramid Networks, 2017). Places are computed in f64, and on "
      "the device `reference` sums, too. The gradient flows to the maps, not to the boxes. He et "
      "al., Mask R-CNN, 2017; torchvision roi_align with a positive sampling_ratio; ONNX RoiAlign, "
      "avg (aligned: half_pixel, else output_half_pixel), with a box's place among the boxes of "
      "its image in place of batch_indices.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"boxes", "[N, boxes, 4], f32 or f64"},
      {"map", "[N, channels, height, width] of each stride, type of boxes", Arity::kVariadic}};
  def.outputs = {{"y", "[boxes·N, channels, height, width] of `size`, type of boxes"}};
  def.schema = &RoiAlignAttributes::Schema();
  def.infer = InferRoiAlign;
  def.gradient = RoiAlignGradient;
  def.cost = RoiAlignCost;
  return def;
}

OpDef roi_align_grad() {
  OpDef def;
  def.name = "roi_align_grad";
  def.summary = "Computes the gradient of one of roi_align's maps.";
  def.details =
      "Each element of dy is spread with the weights with which roi_align read the map, where its "
      "box is one of that map. It is added in the order of dy, in the type of dy.";
  def.inputs = {{"boxes", "boxes of roi_align"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of the map"}};
  def.schema = &RoiAlignGradAttributes::Schema();
  def.infer = InferRoiAlignGrad;
  def.cost = RoiAlignGradCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
