// crop: a strided copy out of each image.
#include "src/ops/crop.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanCrop(request.node));
}

}  // namespace

CopyPlan PlanCrop(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const IntList offset = CropOffset(node.attributes.As<CropAttributes>(), x);
  const std::vector<int64_t> from = RowMajorStrides(x);
  const int64_t base = offset[0] * from[from.size() - 2] + offset[1] * from.back();
  return {MakeSpace<2>(y.Sizes(), {from, RowMajorStrides(y)}), {base, 0}};
}

KernelDef crop() { return {.name = "reference.crop", .prepare = Prepare}; }

}  // namespace cgrun::reference
