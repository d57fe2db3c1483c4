// Descriptors, the choice of an algorithm, and the calls.
#include <climits>

#include "src/base/dtype.h"
#include "src/kernels/cuda/cudnn_conv.cuh"

namespace cgrun::cuda {

// The deterministic algorithms of the gradients that compute as the formula says.
constexpr auto kInputAlgorithm = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto kWeightAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

// Memory for a run that nobody reads.
class TrialMemory {
 public:
  explicit TrialMemory(int64_t bytes) {
    const size_t size = static_cast<size_t>(bytes > 0 ? bytes : 1);
    if (cudaMalloc(&memory_, size) != cudaSuccess) {
      memory_ = nullptr;
    } else {
      cudaMemset(memory_, 0, size);
    }
    cudaGetLastError();
  }
  ~TrialMemory() { cudaFree(memory_); }
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

// What cuDNN makes of padding that is the same at both ends.
static bool IsSymmetric(const WindowAxis& axis) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  const int64_t room = axis.input + 2 * axis.before - reach;
  return room >= 0 && room / axis.stride + 1 == axis.output;
}

static bool FitsInt(const ConvSizes& sizes) {
  const int64_t most = INT_MAX;
  return sizes.images * sizes.groups * sizes.group_input() <= most &&
         sizes.images * sizes.groups * sizes.group_output() <= most &&
         sizes.groups * sizes.group_weight() <= most;
}

static cudnnDataType_t DataType(DType dtype) {
  return dtype == DType::kBF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

CudnnConv::CudnnConv(ConvResult result, int64_t workspace_bytes)
    : result_(result), workspace_bytes_(workspace_bytes), handle_(CudnnHandle()) {}

CudnnConv::~CudnnConv() {
  if (x_ != nullptr) cudnnDestroyTensorDescriptor(x_);
  if (y_ != nullptr) cudnnDestroyTensorDescriptor(y_);
  if (weight_ != nullptr) cudnnDestroyFilterDescriptor(weight_);
  if (convolution_ != nullptr) cudnnDestroyConvolutionDescriptor(convolution_);
}

std::shared_ptr<const CudnnConv> CudnnConv::Make(ConvResult result, const ConvSizes& sizes,
                                                 DType dtype, int64_t workspace_bytes) {
  const bool known = dtype == DType::kF32 || dtype == DType::kBF16;
  if (!known || !IsSymmetric(sizes.window.y) || !IsSymmetric(sizes.window.x) || !FitsInt(sizes)) {
    return nullptr;
  }
  std::shared_ptr<CudnnConv> conv(new CudnnConv(result, workspace_bytes));
  const bool works =
      conv->Describe(sizes, dtype) && conv->ChooseAlgorithm() && conv->TryOut(sizes, dtype);
  return works ? conv : nullptr;
}

bool CudnnConv::Describe(const ConvSizes& sizes, DType dtype) {
  const auto as_int = [](int64_t value) { return static_cast<int>(value); };
  const cudnnDataType_t type = DataType(dtype);
  const WindowAxis &wy = sizes.window.y, &wx = sizes.window.x;
  const cudnnStatus_t statuses[] = {
      cudnnCreateTensorDescriptor(&x_),
      cudnnCreateTensorDescriptor(&y_),
      cudnnCreateFilterDescriptor(&weight_),
      cudnnCreateConvolutionDescriptor(&convolution_),
      cudnnSetTensor4dDescriptor(x_, CUDNN_TENSOR_NCHW, type, as_int(sizes.images),
                                 as_int(sizes.groups * sizes.channels), as_int(wy.input),
                                 as_int(wx.input)),
      cudnnSetTensor4dDescriptor(y_, CUDNN_TENSOR_NCHW, type, as_int(sizes.images),
                                 as_int(sizes.groups * sizes.filters), as_int(wy.output),
                                 as_int(wx.output)),
      cudnnSetFilter4dDescriptor(weight_, type, CUDNN_TENSOR_NCHW,
                                 as_int(sizes.groups * sizes.filters), as_int(sizes.channels),
                                 as_int(wy.kernel), as_int(wx.kernel)),
      cudnnSetConvolution2dDescriptor(
          convolution_, as_int(wy.before), as_int(wx.before), as_int(wy.stride), as_int(wx.stride),
          as_int(wy.dilation), as_int(wx.dilation), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
      cudnnSetConvolutionGroupCount(convolution_, as_int(sizes.groups)),
      // f32 means f32: the default would let cuDNN round to TF32.
      cudnnSetConvolutionMathType(convolution_,
                                  dtype == DType::kF32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH),
  };
  for (cudnnStatus_t status : statuses) {
    if (status != CUDNN_STATUS_SUCCESS) return false;
  }
  return true;
}

bool CudnnConv::Fits(cudnnConvolutionFwdAlgo_t algorithm) {
  size_t bytes = 0;
  const cudnnStatus_t status = cudnnGetConvolutionForwardWorkspaceSize(
      handle_, x_, weight_, convolution_, y_, algorithm, &bytes);
  return status == CUDNN_STATUS_SUCCESS && bytes <= static_cast<size_t>(workspace_bytes_);
}

// Winograd's and Fourier's are left out: they round more.
bool CudnnConv::ChooseAlgorithm() {
  size_t bytes = 0;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  switch (result_) {
    case ConvResult::kOutput:
      for (auto algorithm : {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM}) {
        forward_ = algorithm;
        if (Fits(algorithm)) return true;
      }
      return false;
    case ConvResult::kInput:
      status = cudnnGetConvolutionBackwardDataWorkspaceSize(handle_, weight_, y_, convolution_, x_,
                                                            kInputAlgorithm, &bytes);
      break;
    case ConvResult::kWeight:
      status = cudnnGetConvolutionBackwardFilterWorkspaceSize(handle_, x_, y_, convolution_,
                                                              weight_, kWeightAlgorithm, &bytes);
      break;
  }
  return status == CUDNN_STATUS_SUCCESS && bytes <= static_cast<size_t>(workspace_bytes_);
}

cudnnStatus_t CudnnConv::Run(cudaStream_t stream, void* x, void* weight, void* y,
                             void* workspace) const noexcept {
  const float one = 1, zero = 0;
  const auto bytes = static_cast<size_t>(workspace_bytes_);
  const cudnnStatus_t status = cudnnSetStream(handle_, stream);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  switch (result_) {
    case ConvResult::kOutput:
      return cudnnConvolutionForward(handle_, &one, x_, x, weight_, weight, convolution_, forward_,
                                     workspace, bytes, &zero, y_, y);
    case ConvResult::kInput:
      return cudnnConvolutionBackwardData(handle_, &one, weight_, weight, y_, y, convolution_,
                                          kInputAlgorithm, workspace, bytes, &zero, x_, x);
    case ConvResult::kWeight:
      return cudnnConvolutionBackwardFilter(handle_, &one, x_, x, y_, y, convolution_,
                                            kWeightAlgorithm, workspace, bytes, &zero, weight_,
                                            weight);
  }
  return CUDNN_STATUS_BAD_PARAM;
}

// Where there is no room for a trial, it is taken to work: Run() says where it did not.
bool CudnnConv::TryOut(const ConvSizes& sizes, DType dtype) const {
  const int64_t size = SizeOf(dtype);
  const TrialMemory x(sizes.images * sizes.groups * sizes.group_input() * size);
  const TrialMemory y(sizes.images * sizes.groups * sizes.group_output() * size);
  const TrialMemory weight(sizes.groups * sizes.group_weight() * size);
  const TrialMemory workspace(workspace_bytes_);
  if (!x.get() || !y.get() || !weight.get() || !workspace.get()) return true;
  const cudnnStatus_t status = Run(nullptr, x.get(), weight.get(), y.get(), workspace.get());
  const bool ran = cudaStreamSynchronize(nullptr) == cudaSuccess;
  return status == CUDNN_STATUS_SUCCESS && ran;
}

}  // namespace cgrun::cuda
