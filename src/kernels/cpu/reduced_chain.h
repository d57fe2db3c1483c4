// Operators that go element by element and a reduction of what they give, as one node and one
// sweep.
#ifndef CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_
#define CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Of fused nodes whose operators but for the last have elementwise kernels, on tensors of one shape
// and of one element; the last one is reduce_sum, reduce_mean or reduce_max over trailing axes.
KernelDef reduced_chain();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_
