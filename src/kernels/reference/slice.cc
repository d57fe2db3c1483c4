// Computes slice and its gradient: strided copies out of a tensor and into zeros.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel PrepareSlice(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanSlice(request.node));
}

PreparedKernel PrepareSliceGrad(const KernelRequest& request) {
  return PrepareFillAndCopy(request.node.inputs[0].dtype, PlanSliceGrad(request.node));
}

}  // namespace

KernelDef slice() { return {.name = "reference.slice", .prepare = PrepareSlice}; }
KernelDef slice_grad() { return {.name = "reference.slice_grad", .prepare = PrepareSliceGrad}; }

}  // namespace cgrun::reference
