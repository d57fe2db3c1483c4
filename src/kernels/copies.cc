// Makes the plans of the copies, one operator each.
#include "src/kernels/copies.h"

#include <cstring>

#include "src/base/check.h"
#include "src/base/host_tensor.h"
#include "src/ops/crop.h"
#include "src/ops/flip.h"
#include "src/ops/infer.h"
#include "src/ops/pad.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

// Says how the part lies in the whole: its offset and its strides.
struct Part {
  int64_t base = 0;
  std::vector<int64_t> strides;
};

Part PartOf(const SliceAttributes& attributes, const Shape& whole) {
  std::string message;
  const auto ranges = SliceRanges(attributes, whole, &message);
  CGRUN_CHECK(ranges.has_value()) << message;
  Part part{0, RowMajorStrides(whole)};
  for (size_t axis = 0; axis < ranges->size(); ++axis) {
    part.base += (*ranges)[axis].start * part.strides[axis];
    part.strides[axis] *= (*ranges)[axis].step;
  }
  return part;
}

uint64_t BitsOf(DType dtype, double value) {
  HostTensor element(dtype, Shape());
  element.Set(0, value);
  uint64_t bits = 0;
  std::memcpy(&bits, element.bytes().data(), element.bytes().size());  // little-endian
  return bits;
}

}  // namespace

CopyPlan PlanBroadcast(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  return {MakeSpace<2>(y.Sizes(), {BroadcastStrides(x, y), RowMajorStrides(y)}), {0, 0}};
}

CopyPlan PlanCrop(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const IntList offset = CropOffset(node.attributes.As<CropAttributes>(), x);
  const std::vector<int64_t> from = RowMajorStrides(x);
  const int64_t base = offset[0] * from[from.size() - 2] + offset[1] * from.back();
  return {MakeSpace<2>(y.Sizes(), {from, RowMajorStrides(y)}), {base, 0}};
}

CopyPlan PlanFlip(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto axes = NormalizeAxes(node.attributes.As<FlipAttributes>().axes, x.rank());
  CGRUN_CHECK(axes.has_value());
  const std::vector<int64_t> to = RowMajorStrides(x);
  std::vector<int64_t> from = to;
  int64_t base = 0;
  for (int axis : *axes) {
    int64_t& stride = from[static_cast<size_t>(axis)];
    base += (x[axis].size - 1) * stride;
    stride = -stride;
  }
  return {MakeSpace<2>(x.Sizes(), {from, to}), {base, 0}};
}

CopyPlan PlanSlice(const NodeSignature& node) {
  const Shape& y = node.outputs[0].shape;
  const Part part = PartOf(node.attributes.As<SliceAttributes>(), node.inputs[0].shape);
  return {MakeSpace<2>(y.Sizes(), {part.strides, RowMajorStrides(y)}), {part.base, 0}};
}

CopyPlan PlanTranspose(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const std::vector<int> perm =
      NormalizePermutation(node.attributes.As<TransposeAttributes>().perm, x.rank());
  const std::vector<int64_t> from = RowMajorStrides(x);
  std::vector<int64_t> strides;
  for (int axis : perm) strides.push_back(from[static_cast<size_t>(axis)]);
  return {MakeSpace<2>(y.Sizes(), {strides, RowMajorStrides(y)}), {0, 0}};
}

FillAndCopyPlan PlanPad(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<PadAttributes>();
  const Shape& x = node.inputs[0].shape;
  const Shape& y = node.outputs[0].shape;
  const PadWidths widths = WidthsOf(attributes, x.rank());
  const std::vector<int64_t> strides = RowMajorStrides(y);
  int64_t base = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) base += widths.before[axis] * strides[axis];
  return {{MakeSpace<2>(x.Sizes(), {RowMajorStrides(x), strides}), {0, base}},
          y.Elements(),
          BitsOf(node.inputs[0].dtype, attributes.value)};
}

FillAndCopyPlan PlanSliceGrad(const NodeSignature& node) {
  const auto& a = node.attributes.As<SliceGradAttributes>();
  const Shape& dy = node.inputs[0].shape;
  const Part part = PartOf({a.axes, a.starts, a.ends, a.steps}, a.shape);
  return {{MakeSpace<2>(dy.Sizes(), {RowMajorStrides(dy), part.strides}), {0, part.base}},
          a.shape.Elements(),
          0};
}

}  // namespace cgrun
