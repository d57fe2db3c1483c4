// Exports operators that move elements, and sums over axes.
#include <limits>
#include <numeric>

#include "src/export/emitters.h"
#include "src/ops/concat.h"
#include "src/ops/crop.h"
#include "src/ops/flatten.h"
#include "src/ops/flip.h"
#include "src/ops/infer.h"
#include "src/ops/pad.h"
#include "src/ops/random_crop.h"
#include "src/ops/reduce.h"
#include "src/ops/slice.h"
#include "src/ops/tile.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

// An axis that depends on the batch is -1: there is one at most.
void ReshapeTo(NodeEmitter& node, const Emitter&) {
  node.Set(node.Reshape(node.In(0), node.OutType().shape));
}

void Flatten(NodeEmitter& node, const Emitter&) {
  const int rank = node.ShapeOf(0).rank();
  const int64_t given = node.attributes<FlattenAttributes>().axis;
  const int64_t axis = given < 0 ? given + rank : given;
  node.Set(node.Emit("Flatten", {node.In(0)}, {IntOf("axis", axis)}));
}

void TransposeTo(NodeEmitter& node, const Emitter&) {
  const std::vector<int> perm =
      NormalizePermutation(node.attributes<TransposeAttributes>().perm, node.ShapeOf(0).rank());
  node.Set(node.Transpose(node.In(0), {perm.begin(), perm.end()}));
}

void Join(NodeEmitter& node, const Emitter&) {
  NodeEmitter::Values inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.In(i));
  node.Set(node.Concat(
      inputs, *NormalizeAxis(node.attributes<ConcatAttributes>().axis, node.ShapeOf(0).rank())));
}

void SlicePart(NodeEmitter& node, const Emitter&) {
  const Shape& shape = node.ShapeOf(0);
  std::string message;
  const auto ranges = SliceRanges(node.attributes<SliceAttributes>(), shape, &message);
  std::vector<NodeEmitter::Cut> cuts;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const SliceRange& range = ranges->at(static_cast<size_t>(axis));
    if (range.count == shape[axis]) continue;
    const int64_t last = range.start + (range.count.size - 1) * range.step;
    cuts.push_back({axis, range.start, last + 1, range.step});
  }
  node.Set(node.Slice(node.In(0), cuts));
}

// Takes the part of images of `size` at `offset`.
void CropAt(NodeEmitter& node, const IntList& size, const IntList& offset) {
  const Shape& shape = node.ShapeOf(0);
  std::vector<NodeEmitter::Cut> cuts;
  for (int i = 0; i < 2; ++i) {
    const int axis = shape.rank() - 2 + i;
    const auto at = static_cast<size_t>(i);
    if (shape[axis] == Dim(size[at])) continue;
    cuts.push_back({axis, offset[at], offset[at] + size[at]});
  }
  node.Set(node.Slice(node.In(0), cuts));
}

void Crop(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<CropAttributes>();
  CropAt(node, a.size, CropOffset(a, node.ShapeOf(0)));
}

void RandomCrop(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<RandomCropAttributes>();
  CropAt(node, a.size, CropOffset({a.size, {}}, node.ShapeOf(0)));
}

void Flip(NodeEmitter& node, const Emitter&) {
  const auto axes = NormalizeAxes(node.attributes<FlipAttributes>().axes, node.ShapeOf(0).rank());
  std::vector<NodeEmitter::Cut> cuts;
  for (const int axis : *axes) {
    cuts.push_back({axis, -1, std::numeric_limits<int64_t>::min() + 1, -1});
  }
  node.Set(node.Slice(node.In(0), cuts));
}

void PadAround(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<PadAttributes>();
  const PadWidths widths = WidthsOf(a, node.ShapeOf(0).rank());
  node.Set(node.Pad(node.In(0), widths.before, widths.after, a.value, a.mode));
}

void Tile(NodeEmitter& node, const Emitter&) {
  node.Set(
      node.Emit("Tile", {node.In(0), node.Integers(node.attributes<TileAttributes>().repeats)}));
}

// A size of 1 keeps that of x, which may be the batch. A new batch axis has the size of that of an
// input of the model.
void Expand(NodeEmitter& node, const Emitter&) {
  const Shape &x = node.ShapeOf(0), &y = node.OutType().shape;
  NodeEmitter::Values sizes;
  for (int axis = 0; axis < y.rank(); ++axis) {
    const int of_x = axis - (y.rank() - x.rank());
    const bool is_kept = of_x >= 0 && x[of_x] == y[axis];
    if (!is_kept && y[axis].batch) {
      sizes.push_back(node.BatchSize());
    } else {
      sizes.push_back(node.Integers({is_kept ? 1 : y[axis].size}));
    }
  }
  node.Set(node.Emit("Expand", {node.In(0), node.Concat(sizes, 0)}));
}

void ReduceAxes(NodeEmitter& node, const Emitter& row) {
  const auto& a = node.attributes<ReduceAttributes>();
  const auto axes = NormalizeAxes(a.axes, node.ShapeOf(0).rank());
  if (axes->empty()) return node.Set(node.In(0));  // of no axis
  node.Set(node.Reduce(row.onnx, node.In(0), {axes->begin(), axes->end()}, a.keep_dims));
}

constexpr Emitter kShapes[] = {
    {OpId::concat, Join, "", "axis"},
    {OpId::crop, Crop, "", "size offset"},
    {OpId::expand, Expand, "", "sizes batch"},
    {OpId::flatten, Flatten, "", "axis"},
    {OpId::flip, Flip, "", "axes"},
    {OpId::pad, PadAround, "", "axes before after value mode"},
    {OpId::random_crop, RandomCrop, "", "size"},
    {OpId::reduce_max, ReduceAxes, "ReduceMax", "axes keep_dims"},
    {OpId::reduce_min, ReduceAxes, "ReduceMin", "axes keep_dims"},
    {OpId::reduce_prod, ReduceAxes, "ReduceProd", "axes keep_dims"},
    {OpId::reduce_mean, ReduceAxes, "ReduceMean", "axes keep_dims"},
    {OpId::reduce_sum, ReduceAxes, "ReduceSum", "axes keep_dims"},
    {OpId::reshape, ReshapeTo, "", "shape"},
    {OpId::slice, SlicePart, "", "axes starts ends steps"},
    {OpId::tile, Tile, "", "repeats"},
    {OpId::transpose, TransposeTo, "", "perm"},
};

}  // namespace

std::span<const Emitter> ShapeEmitters() { return kShapes; }

}  // namespace cgrun
