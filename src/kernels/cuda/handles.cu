// Keeps a table of handles by device.
#include <map>
#include <mutex>
#include <string>

#include "src/base/check.h"
#include "src/base/diagnostics.h"
#include "src/kernels/cuda/handles.cuh"

namespace cgrun::cuda {

struct LibraryHandles {
  cublasHandle_t cublas = nullptr;
  cudnnHandle_t cudnn = nullptr;
};

static std::mutex handles_mutex;

// The handles are never destroyed, because the driver may be gone before static objects are.
static LibraryHandles& HandlesOfDevice() {
  static auto* const handles = new std::map<int, LibraryHandles>();
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) {
    cudaGetLastError();
    throw UserError(std::string("no GPU can be used: ") + cudaGetErrorString(status));
  }
  return (*handles)[device];
}

cublasHandle_t CublasHandle() {
  const std::lock_guard lock(handles_mutex);
  cublasHandle_t& handle = HandlesOfDevice().cublas;
  if (handle != nullptr) return handle;
  cublasStatus_t status = cublasCreate(&handle);
  if (status == CUBLAS_STATUS_SUCCESS) {
    // f32 means f32, and sums of bf16 are sums in f32, in parts too.
    const int mode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    status = cublasSetMathMode(handle, static_cast<cublasMath_t>(mode));
  }
  if (status == CUBLAS_STATUS_SUCCESS) return handle;
  handle = nullptr;
  throw UserError(std::string("cuBLAS cannot be used: ") + cublasGetStatusString(status));
}

cudnnHandle_t CudnnHandle() {
  const std::lock_guard lock(handles_mutex);
  cudnnHandle_t& handle = HandlesOfDevice().cudnn;
  if (handle != nullptr) return handle;
  const cudnnStatus_t status = cudnnCreate(&handle);
  if (status == CUDNN_STATUS_SUCCESS) return handle;
  handle = nullptr;
  throw UserError(std::string("cuDNN cannot be used: ") + cudnnGetErrorString(status));
}

void Check(cublasStatus_t status) noexcept {
  CGRUN_CHECK(status == CUBLAS_STATUS_SUCCESS) << "cuBLAS: " << cublasGetStatusString(status);
}

void Check(cudnnStatus_t status) noexcept {
  CGRUN_CHECK(status == CUDNN_STATUS_SUCCESS) << "cuDNN: " << cudnnGetErrorString(status);
}

}  // namespace cgrun::cuda
