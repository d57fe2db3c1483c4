// crop: a strided copy out of each image.
#include "src/ops/crop.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const Shape& y = request.node.outputs[0].shape;
  const IntList offset = CropOffset(request.node.attributes.As<CropAttributes>(), x.shape);
  const std::vector<int64_t> from = RowMajorStrides(x.shape);
  const int64_t base = offset[0] * from[from.size() - 2] + offset[1] * from.back();
  return PrepareCopy(x.dtype, {MakeSpace<2>(y.Sizes(), {from, RowMajorStrides(y)}), {base, 0}});
}

}  // namespace

KernelDef crop() { return {.name = "reference.crop", .prepare = Prepare}; }

}  // namespace cgrun::reference
