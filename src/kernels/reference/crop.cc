// Computes crop by a strided copy out of each image.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel PrepareCrop(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanCrop(request.node));
}

}  // namespace

KernelDef crop() { return {.name = "reference.crop", .prepare = PrepareCrop}; }

}  // namespace cgrun::reference
