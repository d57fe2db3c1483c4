// Goes from kernels that are compiled for each instruction set to an operator's kernels on this
// CPU.
#ifndef CGRUN_KERNELS_CPU_DISPATCH_H_
#define CGRUN_KERNELS_CPU_DISPATCH_H_

#include <vector>

#include "src/kernels/cpu/highway_target.h"
#include "src/kernels/cpu/vector_target.h"
#include "src/kernels/kernel.h"

// Defines `std::vector<KernelDef> op()` from `KernelDef op()` of the best target. To be used in
// cgrun::cpu, under HWY_ONCE.
#define CGRUN_CPU_KERNEL(op)             \
  HWY_EXPORT(op);                        \
  std::vector<KernelDef> op() {          \
    if (!HasVectorTarget()) return {};   \
    return {HWY_DYNAMIC_DISPATCH(op)()}; \
  }

// Defines the same list, followed by the kernels of `more()`.
#define CGRUN_CPU_KERNEL_AND(op, more)                             \
  HWY_EXPORT(op);                                                  \
  std::vector<KernelDef> op() {                                    \
    if (!HasVectorTarget()) return {};                             \
    std::vector<KernelDef> kernels = {HWY_DYNAMIC_DISPATCH(op)()}; \
    for (KernelDef & kernel : more()) kernels.push_back(kernel);   \
    return kernels;                                                \
  }

#endif  // CGRUN_KERNELS_CPU_DISPATCH_H_
