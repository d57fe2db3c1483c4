// Puts numbers of an operator's attributes on the GPU, where its kernel reads them, when the kernel
// is prepared. They are no part of the plan. They are small, since a model file lists them.
#ifndef CGRUN_KERNELS_CUDA_DEVICE_TABLE_CUH_
#define CGRUN_KERNELS_CUDA_DEVICE_TABLE_CUH_

#include <memory>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun::cuda {

template <class T>
class DeviceTable {
 public:
  DeviceTable() = default;
  // Throws UserError if the GPU's memory is full.
  explicit DeviceTable(const std::vector<T>& values) : size_(static_cast<int64_t>(values.size())) {
    if (values.empty()) return;
    void* memory = nullptr;
    const size_t bytes = values.size() * sizeof(T);
    Require(cudaMalloc(&memory, bytes));
    memory_ = std::shared_ptr<void>(memory, cudaFree);
    Require(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
    Require(cudaDeviceSynchronize());  // other streams do not wait for this copy
  }

  const T* data() const { return static_cast<const T*>(memory_.get()); }  // null where empty
  int64_t size() const { return size_; }

 private:
  static void Require(cudaError_t status) {
    if (status == cudaSuccess) return;
    cudaGetLastError();
    throw UserError(std::string("cannot prepare a kernel: ") + cudaGetErrorString(status));
  }

  std::shared_ptr<void> memory_;
  int64_t size_ = 0;
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_DEVICE_TABLE_CUH_
