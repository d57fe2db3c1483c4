// Keeps the handles of cuBLAS and cuDNN, one for each device. A handle is made when the first
// kernel that needs it is prepared, and kept until the process ends. Kernels set its stream before
// each call; nothing else of a handle changes.
#ifndef CGRUN_KERNELS_CUDA_HANDLES_CUH_
#define CGRUN_KERNELS_CUDA_HANDLES_CUH_

#include <cublas_v2.h>
#include <cudnn.h>

#include <cstddef>
#include <cstdint>

namespace cgrun::cuda {

// These are the handles of the calling thread's current device. They throw UserError if a handle
// cannot be made.
cublasHandle_t CublasHandle();
cudnnHandle_t CudnnHandle();

// These fail a check unless a call of Run() has succeeded: what was asked for was prepared.
void Check(cublasStatus_t status) noexcept;
void Check(cudnnStatus_t status) noexcept;

// The libraries want their workspaces aligned to this, the plan aligns to less.
inline constexpr int64_t kLibraryAlignment = 256;

inline int64_t RoundedUp(int64_t bytes) {
  return (bytes + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment;
}

// Returns the first address of `workspace` on that boundary. The plan therefore gives the workspace
// kLibraryAlignment more bytes.
inline void* Aligned(std::byte* workspace) {
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  return reinterpret_cast<void*>((address + kLibraryAlignment - 1) &
                                 ~static_cast<uintptr_t>(kLibraryAlignment - 1));
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_HANDLES_CUH_
