// A convolution of cuDNN, with an algorithm that gives the same bits each time.
#ifndef CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_
#define CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_

#include <memory>
#include <string>

#include "src/kernels/cuda/conv_task.cuh"
#include "src/kernels/cuda/handles.cuh"
#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// The bytes that are enough for a task in every way in which cuDNN may run it, so far as is known
// without a GPU.
int64_t CudnnConvWorkspace(const ConvTask& task);

class CudnnConv {
 public:
  // Returns null if cuDNN has no fitting code for the task: padding that differs between the ends,
  // f64, sizes that it refuses, or more scratch than the task has. A run on memory of its own tries
  // that out, and also loads the code. TF32 without fitting code runs as f32. Throws UserError if
  // there is too little memory for that run, or if the GPU has failed.
  static std::shared_ptr<const CudnnConv> Make(const ConvTask& task);
  // Does the same in one way: on plain tensors or on copies with the channels last, with the bias
  // or without it.
  static std::shared_ptr<const CudnnConv> TryOut(const ConvTask& task, cudnnTensorFormat_t format,
                                                 bool bias);
  ~CudnnConv();
  CudnnConv(const CudnnConv&) = delete;
  CudnnConv& operator=(const CudnnConv&) = delete;

  // Returns whether Run() adds the bias; elsewhere it is still to be added.
  bool adds_bias() const { return bias_ != nullptr; }
  // Returns whether it runs on copies with the channels last.
  bool channels_last() const { return format_ == CUDNN_TENSOR_NHWC; }
  // `x`, `weight` and `y` as the convolution from x to y has them, all plain; the result is
  // written. `bias` is read where adds_bias().
  cudnnStatus_t Run(const RunContext& context, void* x, void* weight, const void* bias, void* y,
                    std::byte* workspace) const noexcept;
  // "channels last, with bias, 6 + 3 of 18 MiB": copies, scratch, workspace.
  std::string ToString() const;

 private:
  // A tensor [count, channels, plane]. cuDNN gets a copy [count, plane, channels] in the workspace
  // where it has one; a tensor that is the same either way has none.
  struct Tensor {
    int64_t count = 0, channels = 0, plane = 0;
    int64_t copy = -1;  // its offset in the workspace; −1: none
  };

  CudnnConv(const ConvTask& task, cudnnTensorFormat_t format, bool bias);
  void PlaceCopy(Tensor& tensor);
  bool Describe();
  bool DescribeBias();
  bool ChooseAlgorithm();
  bool Fits(cudnnStatus_t status, size_t bytes);
  bool Works() const;
  void* Copied(const RunContext& context, const Tensor& tensor, void* plain,
               std::byte* workspace) const noexcept;
  void CopyBack(const RunContext& context, const Tensor& tensor, void* plain,
                std::byte* workspace) const noexcept;
  cudnnStatus_t Call(void* x, void* weight, const void* bias, void* y,
                     std::byte* workspace) const noexcept;

  ConvTask task_;
  cudnnTensorFormat_t format_;
  cudnnHandle_t handle_;
  Tensor input_, weight_, output_;
  int64_t copies_bytes_ = 0;   // then comes cuDNN's own scratch,
  int64_t scratch_bytes_ = 0;  // of which it says that it needs so much
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnTensorDescriptor_t bias_ = nullptr;  // null where Run() does not add it
  cudnnActivationDescriptor_t identity_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
  cudnnConvolutionFwdAlgo_t forward_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CUDNN_CONV_CUH_
