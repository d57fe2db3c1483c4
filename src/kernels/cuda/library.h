// The kernel library of the device `cuda`.
#ifndef CGRUN_KERNELS_CUDA_LIBRARY_H_
#define CGRUN_KERNELS_CUDA_LIBRARY_H_

#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// Null in a build without CUDA.
const KernelLibrary* Library();

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_LIBRARY_H_
