// transpose: a strided copy that reads the axes in another order.
#include "src/ops/transpose.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanTranspose(request.node));
}

}  // namespace

CopyPlan PlanTranspose(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const std::vector<int> perm =
      NormalizePermutation(node.attributes.As<TransposeAttributes>().perm, x.rank());
  const std::vector<int64_t> from = RowMajorStrides(x);
  std::vector<int64_t> strides;
  for (int axis : perm) strides.push_back(from[static_cast<size_t>(axis)]);
  return {MakeSpace<2>(y.Sizes(), {strides, RowMajorStrides(y)}), {0, 0}};
}

KernelDef transpose() { return {.name = "reference.transpose", .prepare = Prepare}; }

}  // namespace cgrun::reference
