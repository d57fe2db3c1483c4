// Estimates products that pack an operand into what stays in a second-level cache.
#ifndef CGRUN_KERNELS_CPU_PRODUCT_SECONDS_H_
#define CGRUN_KERNELS_CPU_PRODUCT_SECONDS_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// An estimate: `flops` operations, so many a second and thread, and the operands' bytes as they
// count for products by OpenBLAS; what is packed costs nothing beside.
inline double ProductSeconds(const NodeSignature& node, double flops, double flops_per_second,
                             int threads) {
  constexpr double kBytesPerSecond = 4e9;
  return flops / (flops_per_second * threads) +
         static_cast<double>(OperandBytes(node)) / kBytesPerSecond;
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_PRODUCT_SECONDS_H_
