// transpose: a strided copy that reads the axes in another order.
#include "src/ops/transpose.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const Shape& y = request.node.outputs[0].shape;
  const std::vector<int> perm =
      NormalizePermutation(request.node.attributes.As<TransposeAttributes>().perm, x.shape.rank());
  const std::vector<int64_t> from = RowMajorStrides(x.shape);
  std::vector<int64_t> strides;
  for (int axis : perm) strides.push_back(from[static_cast<size_t>(axis)]);
  return PrepareCopy(x.dtype, {MakeSpace<2>(y.Sizes(), {strides, RowMajorStrides(y)}), {0, 0}});
}

}  // namespace

KernelDef transpose() { return {.name = "reference.transpose", .prepare = Prepare}; }

}  // namespace cgrun::reference
