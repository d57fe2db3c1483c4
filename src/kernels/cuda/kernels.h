// Declares the CUDA kernel of each operator that op_list.inc gives one: a forgotten one is a link
// error.
#ifndef CGRUN_KERNELS_CUDA_KERNELS_H_
#define CGRUN_KERNELS_CUDA_KERNELS_H_

#include "src/kernels/kernel.h"

// CGRUN_IF_cuda(x) is x and CGRUN_IF_none(x) is nothing.
#define CGRUN_IF_cuda(...) __VA_ARGS__
#define CGRUN_IF_none(...)

namespace cgrun::cuda {

#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_IF_##on_cuda(KernelDef name();)
#include "src/ir/op_list.inc"
#undef CGRUN_OP

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_KERNELS_H_
