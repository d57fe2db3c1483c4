// Computes pad: it fills the output, then copies the input into its middle.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/strided_copy.h"

namespace cgrun::reference {
namespace {

bool SupportsPad(const NodeSignature& node) { return node.inputs[0].dtype != DType::kF16; }

PreparedKernel PreparePad(const KernelRequest& request) {
  return PrepareFillAndCopy(request.node.inputs[0].dtype, PlanPad(request.node));
}

}  // namespace

KernelDef pad() {
  return {.name = "reference.pad", .supports = SupportsPad, .prepare = PreparePad};
}

}  // namespace cgrun::reference
