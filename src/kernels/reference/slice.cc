// slice and its gradient: strided copies out of a tensor and into zeros.
#include "src/ops/slice.h"

#include "src/base/check.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

// How the part lies in the whole: its offset, and its strides.
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

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanSlice(request.node));
}

PreparedKernel PrepareGrad(const KernelRequest& request) {
  return PrepareFillAndCopy(request.node.inputs[0].dtype, PlanSliceGrad(request.node));
}

}  // namespace

CopyPlan PlanSlice(const NodeSignature& node) {
  const Shape& y = node.outputs[0].shape;
  const Part part = PartOf(node.attributes.As<SliceAttributes>(), node.inputs[0].shape);
  return {MakeSpace<2>(y.Sizes(), {part.strides, RowMajorStrides(y)}), {part.base, 0}};
}

FillAndCopyPlan PlanSliceGrad(const NodeSignature& node) {
  const auto& a = node.attributes.As<SliceGradAttributes>();
  const Shape& dy = node.inputs[0].shape;
  const Part part = PartOf({a.axes, a.starts, a.ends, a.steps}, a.shape);
  return {{MakeSpace<2>(dy.Sizes(), {RowMajorStrides(dy), part.strides}), {0, part.base}},
          a.shape.Elements(),
          0};
}

KernelDef slice() { return {.name = "reference.slice", .prepare = Prepare}; }
KernelDef slice_grad() { return {.name = "reference.slice_grad", .prepare = PrepareGrad}; }

}  // namespace cgrun::reference
