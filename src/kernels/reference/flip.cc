// Computes flip: a strided copy that walks some axes of its input from the end.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

PreparedKernel PrepareFlip(const KernelRequest& request) {
  return PrepareCopy(request.node.inputs[0].dtype, PlanFlip(request.node));
}

}  // namespace

KernelDef flip() { return {.name = "reference.flip", .prepare = PrepareFlip}; }

}  // namespace cgrun::reference
