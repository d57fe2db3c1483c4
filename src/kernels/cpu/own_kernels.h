// Our own kernels, by operator.
#ifndef CGRUN_KERNELS_CPU_OWN_KERNELS_H_
#define CGRUN_KERNELS_CPU_OWN_KERNELS_H_

#include <span>

#include "src/ir/op_id.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// The preferred one first; none where the operator has the reference kernel alone.
std::span<const KernelDef> OwnKernels(OpId op);

// The kernel for a bound node that goes element by element, on no memory but its operands, and may
// be prepared for a part of them. Null where there is none.
const KernelDef* ElementwiseKernel(const NodeSignature& node);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_OWN_KERNELS_H_
