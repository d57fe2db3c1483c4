// Defines region_proposals, which says where something may be in an image, from the scores of
// anchors.
#include "src/ops/region_proposals.h"

#include <algorithm>
#include <limits>

#include "src/ops/box_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& RegionProposalsAttributes::Schema() {
  using A = RegionProposalsAttributes;
  static const AttributeSchema schema =
      SchemaBuilder<A>()
          .Add("strides", &A::strides,
               "of each map, pixels of the image from one of its elements to the next")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 20)
          .Add("scales", &A::scales,
               "of each map, the side of its anchors in pixels, were they square")
          .Required()
          .AtLeast(1e-3)
          .AtMost(1e6)
          .Add("ratios", &A::ratios, "width divided by height of the anchors of a place")
          .AtLeast(1e-3)
          .AtMost(1e3)
          .Add("candidates", &A::candidates,
               "how many anchors are looked at: those of the highest scores")
          .AtLeast(1)
          .AtMost(1 << 20)
          .Add("count", &A::count, "how many boxes of an image there are in y")
          .AtLeast(1)
          .AtMost(1 << 20)
          .Add("max_iou", &A::max_iou,
               "how much two boxes may overlap: intersection divided by union")
          .AtLeast(0)
          .AtMost(1)
          .Add("std", &A::std, "factors of dx, dy, dw and dh")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Checks the lists of the attributes against each other and the number of inputs.
bool CheckLists(InferContext& context, const RegionProposalsAttributes& a) {
  const size_t maps = a.strides.size();
  if (a.scales.size() != maps) {
    context.Fail("`scales` has " + std::to_string(a.scales.size()) + " numbers, and `strides` " +
                 std::to_string(maps));
    return false;
  }
  if (maps == 0 || a.ratios.empty()) {
    context.Fail(std::string(maps == 0 ? "`strides`" : "`ratios`") + " must not be empty");
    return false;
  }
  if (static_cast<size_t>(context.num_inputs()) != 2 * maps) {
    context.Fail("needs " + std::to_string(2 * maps) +
                     " inputs, scores and deltas for each of `strides`, not " +
                     std::to_string(context.num_inputs()),
                 "`in: [scores of the first map, its deltas, scores of the second, …]`");
    return false;
  }
  return ExpectFourStd(context, a.std);
}

// Checks the scores of map `m` and its deltas.
bool CheckMap(InferContext& context, const RegionProposalsAttributes& a, int m) {
  const Shape& scores = context.shape(2 * m);
  const auto anchors = static_cast<int64_t>(a.ratios.size());
  const bool is_map = scores.rank() == 4 && !scores[2].batch && !scores[3].batch;
  if (!is_map || scores[1] != Dim(anchors) || scores[0] != context.shape(0)[0]) {
    const std::string batch = context.shape(0).rank() > 0 ? context.shape(0)[0].ToString() : "N";
    context.Fail("needs scores [" + batch + ", " + std::to_string(anchors) +
                 ", height, width] for " + std::to_string(anchors) + " ratios, not " +
                 scores.ToString());
    return false;
  }
  Shape deltas = scores;
  deltas[1].size = 4 * anchors;
  return ExpectShape(context, 2 * m + 1, "deltas", deltas, "scores " + scores.ToString());
}

// Returns whether all maps are of an image of the same size.
bool CheckImage(InferContext& context, const IntList& strides) {
  const Shape& first = context.shape(0);
  for (size_t m = 1; m < strides.size(); ++m) {
    const Shape& map = context.shape(static_cast<int>(2 * m));
    bool same = true;
    for (int axis : {2, 3}) same &= map[axis].size * strides[m] == first[axis].size * strides[0];
    if (same) continue;
    context.Fail("scores " + first.ToString() + " with stride " + std::to_string(strides[0]) +
                     " and " + map.ToString() + " with stride " + std::to_string(strides[m]) +
                     " are of images of different sizes",
                 "height and width of the image must be multiples of every stride");
    return false;
  }
  return true;
}

std::vector<TensorType> InferRegionProposals(InferContext& context) {
  const auto& a = context.attributes<RegionProposalsAttributes>();
  if (!CheckLists(context, a) || !ExpectCoordinates(context, context.num_inputs())) return {};
  int64_t anchors = 0;
  for (int m = 0; m < std::ssize(a.strides); ++m) {
    if (!CheckMap(context, a, m)) return {};
    const Shape& scores = context.shape(2 * m);
    anchors += scores[1].size * scores[2].size * scores[3].size;
    if (anchors > std::numeric_limits<int32_t>::max()) return context.Fail("too many anchors");
  }
  if (!CheckImage(context, a.strides)) return {};
  const Shape boxes{context.shape(0)[0], a.count, 4};
  if (!CountElements(boxes)) return context.Fail("the result is too large");
  return {{context.dtype(0), boxes}};
}

// Each anchor is compared once. At worst, each candidate is compared with about half of what is
// kept.
OpCost RegionProposalsCost(const NodeSignature& node) {
  const auto& a = node.attributes.As<RegionProposalsAttributes>();
  int64_t anchors = 0;
  for (size_t i = 0; i < node.inputs.size(); i += 2) anchors += node.inputs[i].shape.Elements();
  const int64_t images = node.outputs[0].shape[0].size;
  return {anchors + images * std::min(a.candidates, anchors) * a.count / 2};
}

}  // namespace

OpDef region_proposals() {
  OpDef def;
  def.name = "region_proposals";
  def.summary = "Proposes the boxes of an image in which an object may be.";
  def.details =
      "At each place of a map there is an anchor for each of `ratios`: its centre is at column·"
      "stride, row·stride, its width scale·√ratio and its height scale ÷ √ratio. Of all anchors of "
      "an image those with the `candidates` highest scores are moved by their deltas. " +
      std::string(kDeltasDoc) +
      "Then those that have an area are taken in the order of their scores, and one is left out "
      "where it overlaps with one before by more than `max_iou` (non-maximum suppression); the "
      "first `count` are y. "
      "Where there are fewer, the rest of y is 0. Of equal scores the first goes first, by map, "
      "ratio, row and column; NaN goes last. No gradient flows through it: boxes are taken as "
      "given. Computed in the type of the scores. Lin et al., Feature Pyramid Networks, 2017; "
      "Matterport's ProposalLayer; torchvision RegionProposalNetwork, whose `std` is 1.";
  def.usage = Usage::kOperator;
  def.inputs = {{"map",
                 "of each map its scores [N, ratios, height, width], then its deltas [N, 4·ratios, "
                 "height, width], dx, dy, dw and dh of one ratio behind each other; f32 or f64",
                 Arity::kVariadic}};
  def.outputs = {{"y", "boxes [N, count, 4], those of the highest scores first"}};
  def.schema = &RegionProposalsAttributes::Schema();
  def.infer = InferRegionProposals;
  def.cost = RegionProposalsCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
