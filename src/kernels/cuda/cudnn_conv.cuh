// A convolution of cuDNN, with an algorithm that gives the same bits each time.
#ifndef CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_
#define CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_

#include <memory>

#include "src/kernels/conv_sizes.h"
#include "src/kernels/cuda/handles.cuh"
#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// Which of a convolution's three tensors is made of the other two.
enum class ConvResult { kOutput, kInput, kWeight };

class CudnnConv {
 public:
  // Null where cuDNN has no fitting code for it: padding that differs between the ends, f64, sizes
  // that it refuses, or more than `workspace_bytes` of scratch. Whether it has is tried out with a
  // run on memory of its own, which also loads the code.
  static std::shared_ptr<const CudnnConv> Make(ConvResult result, const ConvSizes& sizes,
                                               DType dtype, int64_t workspace_bytes);
  ~CudnnConv();
  CudnnConv(const CudnnConv&) = delete;
  CudnnConv& operator=(const CudnnConv&) = delete;

  // `x`, `weight` and `y` as the convolution from x to y has them; the result is written.
  cudnnStatus_t Run(cudaStream_t stream, void* x, void* weight, void* y,
                    void* workspace) const noexcept;

 private:
  CudnnConv(ConvResult result, int64_t workspace_bytes);
  bool Describe(const ConvSizes& sizes, DType dtype);
  bool ChooseAlgorithm();
  bool Fits(cudnnConvolutionFwdAlgo_t algorithm);
  bool TryOut(const ConvSizes& sizes, DType dtype) const;

  ConvResult result_;
  int64_t workspace_bytes_;
  cudnnHandle_t handle_;
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t weight_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  cudnnConvolutionFwdAlgo_t forward_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_
