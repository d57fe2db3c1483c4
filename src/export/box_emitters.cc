// Exports operators of boxes. Each serves a whole batch without a loop: what is left out keeps its
// place with the key 0, and TopK brings the others to the front.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/export/emitters.h"
#include "src/ops/detections.h"
#include "src/ops/region_proposals.h"
#include "src/ops/roi_align.h"

namespace cgrun {
namespace {

using Values = NodeEmitter::Values;
using Cut = NodeEmitter::Cut;

OnnxValue IsGreater(NodeEmitter& node, const OnnxValue& a, const OnnxValue& b) {
  return node.Emit("Greater", {a, b}, {}, DType::kBool);
}

OnnxValue Chosen(NodeEmitter& node, const OnnxValue& condition, const OnnxValue& a,
                 const OnnxValue& b) {
  return node.Emit("Where", {condition, a, b}, {}, a.dtype);
}

// Returns the `count` largest along axis 1 and their places, the first of equal ones first.
Values Largest(NodeEmitter& node, const OnnxValue& x, int64_t count) {
  node.Need(10);
  return node.EmitAll("TopK", {x, node.Integers({count})}, {IntOf("axis", 1)},
                      {x.dtype, DType::kI64});
}

// Returns the rows of `x`, [N, n, …], that `places`, [N, k], names.
OnnxValue RowsAt(NodeEmitter& node, const OnnxValue& x, const OnnxValue& places, int64_t count) {
  node.Need(12);
  const OnnxValue indices = node.Reshape(places, {kBatchDim, count, 1});
  return node.Emit("GatherND", {x, indices}, {IntOf("batch_dims", 1)});
}

struct Boxes {
  OnnxValue corners;  // [N, n, 4]
  OnnxValue area;     // bool [N, n]: whether a box has one
};

// Returns boxes [N, n, 4], moved by deltas and cut off at the edges of the image.
Boxes Moved(NodeEmitter& node, const OnnxValue& boxes, const OnnxValue& raw_deltas,
            const RealList& std, int64_t width, int64_t height, int64_t count) {
  const auto part = [&](const OnnxValue& value, int64_t start) {
    return node.Slice(value, {{2, start, start + 2}});
  };
  const DType dtype = boxes.dtype;
  const OnnxValue deltas = node.Emit("Mul", {raw_deltas, node.Numbers(dtype, std, {4})});
  const OnnxValue low = part(boxes, 0);
  const OnnxValue size = node.Emit("Sub", {part(boxes, 2), low}), half = node.Number(dtype, 0.5);
  const OnnxValue shift = node.Emit("Mul", {part(deltas, 0), size});
  const OnnxValue middle =
      node.Emit("Add", {node.Emit("Add", {low, node.Emit("Mul", {size, half})}), shift});
  const OnnxValue grown = node.Emit("Mul", {size, node.Emit("Exp", {part(deltas, 2)})});
  const OnnxValue reach = node.Emit("Mul", {grown, half});
  const OnnxValue edges =
      node.Numbers(dtype, {static_cast<double>(width), static_cast<double>(height)}, {2});
  node.Need(8);
  const auto inside = [&](const OnnxValue& corner) {
    return node.Emit("Min", {node.Emit("Max", {corner, node.Number(dtype, 0)}), edges});
  };
  const OnnxValue first = inside(node.Emit("Sub", {middle, reach}));
  const OnnxValue last = inside(node.Emit("Add", {middle, reach}));
  const OnnxValue sides = node.Emit("Sub", {last, first});
  const OnnxValue least =
      node.Emit("Min", {node.Slice(sides, {{2, 0, 1}}), node.Slice(sides, {{2, 1, 2}})});
  const OnnxValue area = IsGreater(node, least, node.Number(dtype, 0));
  return {node.Concat({first, last}, 2), node.Reshape(area, {kBatchDim, count})};
}

// count, count - 1, …, 1 for what is true in `allowed` [N, count], else 0: boxes lie in the order
// of their scores, and with these in their place no two are equal.
OnnxValue KeysOf(NodeEmitter& node, const OnnxValue& allowed, int64_t count) {
  std::vector<double> keys(static_cast<size_t>(count));
  std::iota(keys.rbegin(), keys.rend(), 1);
  return Chosen(node, allowed, node.Numbers(DType::kF32, keys, {1, count}),
                node.Number(DType::kF32, 0));
}

// Returns the keys of boxes that non-maximum suppression keeps, 0 for the others. `scores`, [N,
// classes, n], has the key of a box for its class, and 0 elsewhere.
OnnxValue Suppressed(NodeEmitter& node, const OnnxValue& corners, const OnnxValue& scores,
                     const OnnxValue& keys, int64_t most, double max_iou) {
  const OnnxValue kept =
      node.Emit("NonMaxSuppression",
                {node.Cast(corners, DType::kF32), scores, node.Integers({most}),
                 node.Numbers(DType::kF32, {max_iou}, {1}), node.Numbers(DType::kF32, {0.5}, {1})},
                {}, DType::kI64);
  // Its rows are batch, class, box.
  const OnnxValue places = node.Emit("Gather", {kept, node.Integers({0, 2})}, {IntOf("axis", 1)});
  const OnnxValue of_kept = node.Emit("GatherND", {keys, places});
  const OnnxValue zeros = node.Emit("Mul", {keys, node.Number(DType::kF32, 0)});
  return node.Emit("ScatterND", {zeros, places, of_kept});
}

// Returns the first `count` of `rows`, [N, n, width], that have a key, in their order, then zeros.
OnnxValue FirstWithKeys(NodeEmitter& node, const OnnxValue& rows, const OnnxValue& keys, int64_t n,
                        int64_t count) {
  const int64_t found = std::min(n, count);
  const Values largest = Largest(node, keys, found);
  const OnnxValue taken = RowsAt(node, rows, largest[1], found);
  const OnnxValue is_kept = IsGreater(node, largest[0], node.Number(DType::kF32, 0));
  const OnnxValue y =
      Chosen(node, node.Reshape(is_kept, {kBatchDim, found, 1}), taken, node.Number(rows.dtype, 0));
  if (found == count) return y;
  return node.Pad(y, {0, 0, 0}, {0, count - found, 0}, 0);
}

// Returns the anchors of all maps, [n, 4], in the order of their scores: by map, ratio, row and
// column.
std::vector<double> AnchorsOf(const RegionProposalsAttributes& a, const NodeEmitter& node) {
  std::vector<double> anchors;
  for (size_t m = 0; m < a.strides.size(); ++m) {
    const Shape& scores = node.ShapeOf(static_cast<int>(2 * m));
    for (const double ratio : a.ratios) {
      const double width = a.scales[m] * std::sqrt(ratio), height = a.scales[m] / std::sqrt(ratio);
      for (int64_t place = 0; place < scores[2].size * scores[3].size; ++place) {
        const auto x = static_cast<double>(place % scores[3].size * a.strides[m]);
        const auto y = static_cast<double>(place / scores[3].size * a.strides[m]);
        const double box[] = {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
        anchors.insert(anchors.end(), std::begin(box), std::end(box));
      }
    }
  }
  return anchors;
}

// Holds the scores [N, n] and deltas [N, n, 4] of all maps.
struct Candidates {
  OnnxValue scores, deltas;
  int64_t count = 0;
};

Candidates CandidatesOf(NodeEmitter& node, int64_t ratios) {
  Candidates all;
  Values scores, deltas;
  for (int i = 0; i < node.num_inputs(); i += 2) {
    const Shape& map = node.ShapeOf(i);
    const int64_t places = map[2].size * map[3].size, count = ratios * places;
    scores.push_back(node.Reshape(node.In(i), {kBatchDim, count}));
    const OnnxValue rows =
        node.Transpose(node.Reshape(node.In(i + 1), {kBatchDim, ratios, 4, places}), {0, 1, 3, 2});
    deltas.push_back(node.Reshape(rows, {kBatchDim, count, 4}));
    all.count += count;
  }
  all.scores = node.Concat(scores, 1);
  all.deltas = node.Concat(deltas, 1);
  return all;
}

void RegionProposals(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<RegionProposalsAttributes>();
  const Candidates all = CandidatesOf(node, std::ssize(a.ratios));
  const int64_t count = std::min(a.candidates, all.count);
  const OnnxValue best = Largest(node, all.scores, count)[1];
  const OnnxValue anchors =
      node.Numbers(all.scores.dtype, AnchorsOf(a, node), {all.count, int64_t{4}});
  const Shape& map = node.ShapeOf(0);
  const Boxes boxes = Moved(node, node.Emit("Gather", {anchors, best}, {IntOf("axis", 0)}),
                            RowsAt(node, all.deltas, best, count), a.std,
                            map[3].size * a.strides[0], map[2].size * a.strides[0], count);
  const OnnxValue keys = KeysOf(node, boxes.area, count);
  const OnnxValue scores = node.Reshape(keys, {kBatchDim, 1, count});
  const OnnxValue kept = Suppressed(node, boxes.corners, scores, keys, a.count, a.max_iou);
  node.Set(FirstWithKeys(node, boxes.corners, kept, count, a.count));
}

// Puts the keys of boxes, [N, n], each in the row of its class, [N, classes, n].
OnnxValue KeysByClass(NodeEmitter& node, const OnnxValue& keys, const OnnxValue& classes,
                      int64_t class_count, int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(class_count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const OnnxValue rows = node.Constant(HostTensor::Of<int64_t>({1, class_count, 1}, numbers));
  const Shape row{kBatchDim, 1, n};
  const OnnxValue is_class =
      node.Emit("Equal", {node.Reshape(classes, row), rows}, {}, DType::kBool);
  return Chosen(node, is_class, node.Reshape(keys, row), node.Number(DType::kF32, 0));
}

// Holds for each box the highest score and its class, [N, n], and the deltas of that class, [N, n,
// 4].
struct Classified {
  OnnxValue score, classes, deltas;
};

Classified ClassesOf(NodeEmitter& node, int64_t n) {
  const OnnxValue classes =
      node.Emit("ArgMax", {node.In(1)}, {IntOf("axis", 2), IntOf("keepdims", 0)}, DType::kI64);
  node.Need(12);
  const OnnxValue indices = node.Reshape(classes, {kBatchDim, n, 1});
  return {node.Reduce("ReduceMax", node.In(1), {2}, false), classes,
          node.Emit("GatherND", {node.In(2), indices}, {IntOf("batch_dims", 2)})};
}

// Boxes that are left out get the score -1, and so go last.
OnnxValue Allowed(NodeEmitter& node, const Classified& found, const OnnxValue& area,
                  double min_score) {
  const OnnxValue is_object = IsGreater(node, found.classes, node.Number(DType::kI64, 0));
  const OnnxValue is_sure = node.Emit(
      "GreaterOrEqual", {found.score, node.Number(found.score.dtype, min_score)}, {}, DType::kBool);
  return node.Emit("And", {node.Emit("And", {is_object, is_sure}), area});
}

void Detections(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<DetectionsAttributes>();
  const int64_t n = node.ShapeOf(1)[1].size, classes = node.ShapeOf(1)[2].size;
  const Shape& image = node.ShapeOf(3);
  const Classified found = ClassesOf(node, n);
  const Boxes boxes = Moved(node, node.In(0), found.deltas, a.std, image[3].size, image[2].size, n);
  const DType dtype = node.In(0).dtype;
  const OnnxValue allowed = Allowed(node, found, boxes.area, a.min_score);
  const OnnxValue score = Chosen(node, allowed, found.score, node.Number(dtype, -1));
  const Values order = Largest(node, score, n);
  const Shape column{kBatchDim, n, 1};
  const OnnxValue rows =
      node.Concat({boxes.corners, node.Reshape(node.Cast(found.classes, dtype), column),
                   node.Reshape(found.score, column)},
                  2);
  const OnnxValue sorted = RowsAt(node, rows, order[1], n);
  const OnnxValue sorted_classes = RowsAt(node, found.classes, order[1], n);
  const OnnxValue is_allowed =
      node.Emit("GreaterOrEqual", {order[0], node.Number(dtype, 0)}, {}, DType::kBool);
  const OnnxValue keys = KeysOf(node, is_allowed, n);
  const OnnxValue kept =
      Suppressed(node, node.Slice(sorted, {{2, 0, 4}}),
                 KeysByClass(node, keys, sorted_classes, classes, n), keys, a.count, a.max_iou);
  node.Set(FirstWithKeys(node, sorted, kept, n, a.count));
}

// Returns the number of the image of each box, [N·boxes].
OnnxValue ImagesOfBoxes(NodeEmitter& node) {
  const Shape& boxes = node.ShapeOf(0);
  HostTensor one(DType::kI64, {1});
  one.Set(0, 1);
  const OnnxValue ones = node.Emit("ConstantOfShape", {node.Sizes(node.In(0), boxes, 0, 2)},
                                   {TensorAttributeOf("value", one)}, DType::kI64);
  const OnnxValue places = node.Emit("NonZero", {ones}, {}, DType::kI64);
  return node.Emit("Gather", {places, node.Number(DType::kI64, 0)}, {IntOf("axis", 0)});
}

// Says whether boxes, [n, 4], have the size from which on they read a map of `stride`.
OnnxValue ReadsMap(NodeEmitter& node, const OnnxValue& boxes, int64_t stride) {
  const OnnxValue sides =
      node.Emit("Sub", {node.Slice(boxes, {{1, 2, 4}}), node.Slice(boxes, {{1, 0, 2}})});
  const OnnxValue area =
      node.Emit("Mul", {node.Slice(sides, {{1, 0, 1}}), node.Slice(sides, {{1, 1, 2}})});
  const double side = 14 * static_cast<double>(stride);
  const OnnxValue is_large =
      node.Emit("GreaterOrEqual", {area, node.Number(boxes.dtype, side * side)}, {}, DType::kBool);
  const Dim count = node.OutType().shape[0];
  return node.Reshape(is_large, {count, 1, 1, 1});
}

// All boxes read all maps, and a Where takes the result of the one that each should read.
void RoiAlign(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<RoiAlignAttributes>();
  if (a.aligned) node.Need(16);
  const OnnxValue boxes = node.Reshape(node.In(0), {node.OutType().shape[0], 4});
  const OnnxValue images = ImagesOfBoxes(node);
  OnnxValue y;
  for (int m = 0; m < std::ssize(a.strides); ++m) {
    const int64_t stride = a.strides[static_cast<size_t>(m)];
    NodeEmitter::AttributeList attributes = {
        TextOf("mode", "avg"), IntOf("output_height", a.size[0]), IntOf("output_width", a.size[1]),
        IntOf("sampling_ratio", a.sampling_ratio),
        RealOf("spatial_scale", 1 / static_cast<double>(stride))};
    if (node.Has(16)) {
      attributes.push_back(
          TextOf("coordinate_transformation_mode", a.aligned ? "half_pixel" : "output_half_pixel"));
    }
    const OnnxValue of_map = node.Emit("RoiAlign", {node.In(m + 1), boxes, images}, attributes);
    y = m == 0 ? of_map : Chosen(node, ReadsMap(node, boxes, stride), of_map, y);
  }
  node.Set(y);
}

constexpr Emitter kBoxes[] = {
    {OpId::detections, Detections, "", "count min_score max_iou std"},
    {OpId::region_proposals, RegionProposals, "",
     "strides scales ratios candidates count max_iou std"},
    {OpId::roi_align, RoiAlign, "", "size strides sampling_ratio aligned"},
};

}  // namespace

std::span<const Emitter> BoxEmitters() { return kBoxes; }

}  // namespace cgrun
