// Computes a convolution by cuBLAS if its kernel has one element and it has no padding, bias or
// groups. It makes a product of matrices for each image, on plain tensors.
#ifndef CGRUN_KERNELS_CUDA_POINTWISE_CONV_CUH_
#define CGRUN_KERNELS_CUDA_POINTWISE_CONV_CUH_

#include <string>

#include "src/kernels/cuda/conv_task.cuh"
#include "src/kernels/cuda/cublas_product.cuh"
#include "src/kernels/cuda/divisor.cuh"

namespace cgrun::cuda {

class PointwiseConv {
 public:
  // Returns whether it can be made so: in f32 and bf16; the output of strides beyond 1 cannot, and
  // no gradient of weights whose terms of all images take more than 64 MiB.
  static bool CanRun(const ConvTask& task);
  // Returns whether it is to be made so where cuDNN could do it too.
  static bool IsChosen(const ConvTask& task);
  static int64_t WorkspaceOf(const ConvTask& task);

  // The task must be one that it can run. Throws UserError if cuBLAS cannot be used.
  explicit PointwiseConv(const ConvTask& task);

  // `x`, `weight` and `y` as the convolution from x to y has them; the result is written. The
  // workspace begins at a multiple of kLibraryAlignment.
  void Run(const RunContext& context, void* x, void* weight, void* y,
           std::byte* workspace) const noexcept;
  // "cuBLAS, 25 MiB": its workspace.
  std::string ToString() const;

 private:
  template <class T>
  void RunAs(const RunContext& context, T* x, T* weight, T* y, std::byte* workspace) const noexcept;

  ConvTask task_;
  CublasProduct product_;
  bool dense_ = true;                       // whether every element of x is read
  Divisor height_, width_, down_, across_;  // of x, and the strides
  int64_t read_bytes_ = 0;                  // of the elements of x that are read; then come
  int64_t terms_bytes_ = 0;                 // an image's part of dW each, and cuBLAS's workspace
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_POINTWISE_CONV_CUH_
