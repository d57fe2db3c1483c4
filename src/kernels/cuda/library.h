// Declares the kernel library of the device `cuda`.
#ifndef CGRUN_KERNELS_CUDA_LIBRARY_H_
#define CGRUN_KERNELS_CUDA_LIBRARY_H_

#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// In a build without CUDA, it is null.
const KernelLibrary* Library();

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_LIBRARY_H_
