// Defines crop, which keeps a part of each image. Its gradient stands in zeros, by pad.
#include "src/ops/crop.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/pad.h"

namespace cgrun {

const AttributeSchema& CropAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<CropAttributes>()
          .Add("size", &CropAttributes::size,
               "height and width of what is kept; one value for both")
          .Required()
          .ExpandTo(2)
          .AtLeast(1)
          .Add("offset", &CropAttributes::offset,
               "rows above and columns to the left of what is kept; one value for both; the middle "
               "of the image if none is given, an odd row or column less above and to the left")
          .ExpandTo(2)
          .AtLeast(0)
          .Build();
  return schema;
}

IntList CropOffset(const CropAttributes& attributes, const Shape& images) {
  if (!attributes.offset.empty()) return attributes.offset;
  const int rows = images.rank() - 2;
  return {(images[rows].size - attributes.size[0]) / 2,
          (images[rows + 1].size - attributes.size[1]) / 2};
}

namespace op_def {
namespace {

std::string Times(int64_t height, int64_t width) {
  return std::to_string(height) + "x" + std::to_string(width);
}

// Returns an empty message if the part lies in the images.
std::string FaultOfPart(const CropAttributes& attributes, const Shape& images) {
  const size_t offsets = attributes.offset.size();
  if (attributes.size.size() != 2 || (offsets != 0 && offsets != 2)) {
    return "`size` and `offset` need 2 numbers each";
  }
  const int rows = images.rank() - 2;
  if (rows < 0 || images[rows].batch || images[rows + 1].batch) {
    return RankMessage("crop", "images [N, …, height, width]", images);
  }
  const IntList offset = CropOffset(attributes, images);
  for (int i : {0, 1}) {
    const auto at = static_cast<size_t>(i);
    const int64_t room = images[rows + i].size - attributes.size[at];
    if (room >= 0 && offset[at] <= room) continue;
    const std::string from = offsets == 0 ? "" : " from " + Times(offset[0], offset[1]);
    return "a part " + Times(attributes.size[0], attributes.size[1]) + from +
           " does not lie in the images of " + images.ToString();
  }
  return "";
}

std::vector<TensorType> InferCrop(InferContext& context) {
  const auto& attributes = context.attributes<CropAttributes>();
  const std::string fault = FaultOfPart(attributes, context.shape(0));
  if (!fault.empty()) return context.Fail(fault);
  Shape shape;
  for (int axis = 0; axis < context.shape(0).rank() - 2; ++axis) {
    shape.dims().push_back(context.shape(0)[axis]);
  }
  for (int64_t size : attributes.size) shape.dims().push_back(Dim(size));
  return {{context.dtype(0), shape}};
}

void CropGradient(GradientContext& context) {
  const auto& attributes = context.attributes<CropAttributes>();
  const Shape x = context.input_type(0).shape;
  const IntList before = CropOffset(attributes, x);
  const int64_t rows = x.rank() - 2;
  const PadAttributes frame{{rows, rows + 1},
                            before,
                            {x[x.rank() - 2].size - before[0] - attributes.size[0],
                             x[x.rank() - 1].size - before[1] - attributes.size[1]},
                            0};
  context.SetInputGradient(
      0, context.Emit(OpId::pad, Attributes::Of(frame), {context.output_gradient(0)}, "dx"));
}

}  // namespace

OpDef crop() {
  OpDef def;
  def.name = "crop";
  def.summary = "Takes a part of each image.";
  def.details =
      "y[…, i, j] = x[…, top + i, left + j]. Without `offset`, top = ⌊(height of x - height) ÷ 2⌋, "
      "and left likewise. The part is the same for all images and steps. ONNX Slice, and "
      "CenterCropPad without padding.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], of any type"}};
  def.outputs = {{"y", "[N, …, `size`]"}};
  def.schema = &CropAttributes::Schema();
  def.infer = InferCrop;
  def.gradient = CropGradient;
  def.cost = NoOperations;
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kWithin;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
