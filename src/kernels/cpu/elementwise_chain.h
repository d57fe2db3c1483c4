// Operators that go element by element, as one node and one sweep.
#ifndef CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_
#define CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Of fused nodes whose operators have elementwise kernels, on tensors of the result's shape and of
// one element.
KernelDef elementwise_chain();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_ELEMENTWISE_CHAIN_H_
