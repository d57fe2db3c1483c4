// Operators that go element by element, as one node and one sweep.
#ifndef CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_
#define CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Runs fused nodes whose operators all have elementwise kernels. Their tensors have the result's
// shape or one element.
KernelDef elementwise_chain();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_
