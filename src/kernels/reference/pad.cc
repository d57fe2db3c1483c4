// Computes pad: it fills the output, then copies the input into its middle.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

bool Supports(const NodeSignature& node) { return node.inputs[0].dtype != DType::kF16; }

PreparedKernel Prepare(const KernelRequest& request) {
  return PrepareFillAndCopy(request.node.inputs[0].dtype, PlanPad(request.node));
}

}  // namespace

KernelDef pad() { return {.name = "reference.pad", .supports = Supports, .prepare = Prepare}; }

}  // namespace cgrun::reference
