// Defines detections: the things that were found in an image, each once.
#include "src/ops/detections.h"

#include <limits>

#include "src/ops/box_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& DetectionsAttributes::Schema() {
  using A = DetectionsAttributes;
  static const AttributeSchema schema =
      SchemaBuilder<A>()
          .Add("count", &A::count, "how many detections of an image there are in y")
          .AtLeast(1)
          .AtMost(1 << 20)
          .Add("min_score", &A::min_score, "the least score of a detection")
          .AtLeast(0)
          .AtMost(1)
          .Add("max_iou", &A::max_iou,
               "how much two detections of a class may overlap: intersection divided by union")
          .AtLeast(0)
          .AtMost(1)
          .Add("std", &A::std, "factors of dx, dy, dw and dh")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferDetections(InferContext& context) {
  const auto& a = context.attributes<DetectionsAttributes>();
  if (!ExpectCoordinates(context, 3) || !ExpectFourStd(context, a.std)) return {};
  const Shape &boxes = context.shape(0), &scores = context.shape(1), &image = context.shape(3);
  if (boxes.rank() != 3 || boxes[1].batch || boxes[2] != Dim(4)) {
    return context.Fail("needs boxes [N, boxes, 4], not " + boxes.ToString());
  }
  if (boxes[1].size > std::numeric_limits<int32_t>::max()) return context.Fail("too many boxes");
  const std::string of_boxes = "boxes " + boxes.ToString();
  const Dim classes = scores.rank() == 3 ? scores[2] : Dim(2);
  if (!ExpectShape(context, 1, "scores", {boxes[0], boxes[1], classes}, of_boxes)) return {};
  if (classes.batch || classes.size < 2) {
    return context.Fail("needs scores of the background and of one class at least, not " +
                        scores.ToString());
  }
  if (!ExpectShape(context, 2, "deltas", {boxes[0], boxes[1], classes, 4},
                   "scores " + scores.ToString())) {
    return {};
  }
  if (image.rank() != 4 || image[0] != boxes[0] || image[2].batch || image[3].batch) {
    return context.Fail("needs images [" + boxes[0].ToString() + ", channels, height, width] for " +
                        of_boxes + ", not " + image.ToString());
  }
  const Shape shape{boxes[0], a.count, 6};
  if (!CountElements(shape)) return context.Fail("the result is too large");
  return {{context.dtype(0), shape}};
}

// Each score is compared once, and each box with what is kept, at worst.
OpCost DetectionsCost(const NodeSignature& node) {
  const int64_t boxes = node.inputs[0].shape[0].size * node.inputs[0].shape[1].size;
  const int64_t count = node.attributes.As<DetectionsAttributes>().count;
  return {node.inputs[1].shape.Elements() + boxes * count};
}

}  // namespace

OpDef detections() {
  OpDef def;
  def.name = "detections";
  def.summary = "Lists the objects of an image with their boxes, each object once.";
  def.details =
      "A box is of the class with its highest score (of equal ones the first), and is moved by the "
      "deltas of that class. " +
      std::string(kDeltasDoc) +
      "Boxes of class 0, the background, with scores below `min_score` and without an area are "
      "left out. The others are taken in the order of their scores (of equal ones the first goes "
      "first), and one is left out where it overlaps with one of its class before by more than "
      "`max_iou` (non-maximum suppression); the first `count` are y. Where there are fewer, the "
      "rest of y is 0. No gradient flows through it. Computed in the type of the boxes. "
      "Matterport's DetectionLayer.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"boxes", "[N, boxes, 4], f32 or f64"},
      {"scores", "[N, boxes, classes], type of boxes: probabilities, class 0 the background"},
      {"deltas", "[N, boxes, classes, 4], type of boxes"},
      {"image", "[N, channels, height, width] of any type, for its height and width alone"}};
  def.outputs = {{"y", "[N, count, 6]: x1, y1, x2, y2, class, score; the highest scores first"}};
  def.schema = &DetectionsAttributes::Schema();
  def.infer = InferDetections;
  def.cost = DetectionsCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
