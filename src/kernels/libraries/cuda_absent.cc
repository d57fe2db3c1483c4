// A build without CUDA has this in place of its kernel library.
#include "src/kernels/cuda/library.h"

namespace cgrun::cuda {

const KernelLibrary* Library() { return nullptr; }

}  // namespace cgrun::cuda
