// Declares the kernel libraries of the devices `cpu` and `blas`. `blas` has OpenBLAS and our own
// kernels; `cpu` has oneDNN's too. If neither has a kernel for a node, the reference kernel runs
// it.
#ifndef CGRUN_KERNELS_CPU_LIBRARY_H_
#define CGRUN_KERNELS_CPU_LIBRARY_H_

#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Returns whether this build has `cpu`, that is oneDNN.
bool HasLibrary();
// Null in a build without oneDNN. Both throw UserError if OpenBLAS cannot be loaded.
const KernelLibrary* Library();
const KernelLibrary& BlasLibrary();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_LIBRARY_H_
