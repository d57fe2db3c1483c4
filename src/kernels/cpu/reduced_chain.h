// Operators that go element by element and a reduction of what they give, as one node and one
// sweep.
#ifndef CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_
#define CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Runs fused nodes that end with a reduction. The last operator is reduce_sum, reduce_mean or
// reduce_max over trailing axes. All others have elementwise kernels, on tensors of one shape and
// of one element.
KernelDef reduced_chain();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_REDUCED_CHAIN_H_
