// A product of two matrices as they lie, by our own kernel.
#ifndef CGRUN_KERNELS_CPU_INPUT_PRODUCT_H_
#define CGRUN_KERNELS_CPU_INPUT_PRODUCT_H_

#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// An estimate for one thread, to choose between kernels by.
inline constexpr double kInputProductFlopsPerSecond = 60e9;

// Returns whether the node is a·b of two f32 matrices, with some rows of `a`, all of which fit in a
// second-level cache.
bool IsInputProduct(const NodeSignature& node);

std::vector<KernelDef> input_product();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_INPUT_PRODUCT_H_
