// Declares the kernels that op_list.inc gives an operator on CPUs beside the reference kernel, the
// preferred one first: a forgotten one is a link error.
#ifndef CGRUN_KERNELS_CPU_KERNELS_H_
#define CGRUN_KERNELS_CPU_KERNELS_H_

#include <vector>

#include "src/kernels/kernel.h"

// CGRUN_IF_cpu(x) is x and CGRUN_IF_none(x) is nothing.
#define CGRUN_IF_cpu(...) __VA_ARGS__
#define CGRUN_IF_none(...)

namespace cgrun::cpu {

#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_IF_##on_cpu(std::vector<KernelDef> name();)
#include "src/ir/op_list.inc"
#undef CGRUN_OP

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_KERNELS_H_
