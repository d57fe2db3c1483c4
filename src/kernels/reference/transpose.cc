// Computes transpose: a strided copy that reads the axes in another order.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel PrepareTranspose(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanTranspose(request.node));
}

}  // namespace

KernelDef transpose() { return {.name = "reference.transpose", .prepare = PrepareTranspose}; }

}  // namespace cgrun::reference
