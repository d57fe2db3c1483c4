// The code of a library that runs a convolution.
#ifndef CGRUN_KERNELS_CUDA_LIBRARY_CONV_CUH_
#define CGRUN_KERNELS_CUDA_LIBRARY_CONV_CUH_

#include <memory>
#include <optional>
#include <string>

#include "src/kernels/cuda/cudnn_conv.cuh"
#include "src/kernels/cuda/pointwise_conv.cuh"

namespace cgrun::cuda {

// Runs a convolution by cuBLAS or by cuDNN. If neither has it, exists() is false.
struct LibraryConv {
  std::optional<PointwiseConv> pointwise;
  std::shared_ptr<const CudnnConv> cudnn;

  // Returns the bytes, counted from a multiple of kLibraryAlignment.
  static int64_t WorkspaceOf(const ConvTask& task) {
    return PointwiseConv::IsChosen(task) ? PointwiseConv::WorkspaceOf(task)
                                         : CudnnConvWorkspace(task);
  }
  // Throws as CudnnConv::Make() does.
  static LibraryConv Make(ConvTask task) {
    LibraryConv conv;
    task.workspace_bytes = WorkspaceOf(task);
    if (PointwiseConv::IsChosen(task)) {
      conv.pointwise.emplace(task);
    } else {
      conv.cudnn = CudnnConv::Make(task);
    }
    return conv;
  }

  bool exists() const { return pointwise.has_value() || cudnn != nullptr; }
  bool adds_bias() const { return cudnn != nullptr && cudnn->adds_bias(); }
  void Run(const RunContext& context, void* x, void* weight, const void* bias, void* y,
           std::byte* workspace) const noexcept {
    if (pointwise.has_value()) {
      pointwise->Run(context, x, weight, y, workspace);
    } else {
      Check(cudnn->Run(context, x, weight, bias, y, workspace));
    }
  }
  std::string ToString() const { return pointwise ? pointwise->ToString() : cudnn->ToString(); }
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_LIBRARY_CONV_CUH_
