// linear by our own kernel.
#ifndef CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_
#define CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_

#include <vector>

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// An estimate for one thread, to choose between kernels by.
inline constexpr double kLinearProductFlopsPerSecond = 60e9;

std::vector<KernelDef> linear_product();
std::vector<KernelDef> activated_linear_product();  // with relu or leaky_relu behind it

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_
