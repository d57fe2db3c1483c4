// Our own kernels, by operator.
#ifndef CGRUN_KERNELS_CPU_OWN_KERNELS_H_
#define CGRUN_KERNELS_CPU_OWN_KERNELS_H_

#include <span>

#include "src/ir/op_id.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Returns the kernels, the preferred one first. If the operator has the reference kernel alone,
// there is none.
std::span<const KernelDef> OwnKernels(OpId op);

// Returns the kernel for a bound node that goes element by element, uses no memory but its
// operands, and may be prepared for a part of them. If there is none, returns null.
const KernelDef* ElementwiseKernel(const NodeSignature& node);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_OWN_KERNELS_H_
