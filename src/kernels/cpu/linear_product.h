// linear by our own kernel, and with an activation behind it, which a library's product has, too.
#ifndef CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_
#define CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "src/kernels/cpu/activation.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

std::vector<KernelDef> linear_product();
std::vector<KernelDef> activated_linear_product();  // with relu or leaky_relu behind it
// These kernels run by that product or, for any batch, by OpenBLAS: an entry point of another batch
// runs the same node.
std::vector<KernelDef> activated_linear();

// Activates `count` numbers, by the best vectors of the CPU. It needs HasVectorTarget().
void ActivateInPlace(const Activation& activation, float* y, int64_t count);

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_LINEAR_PRODUCT_H_
