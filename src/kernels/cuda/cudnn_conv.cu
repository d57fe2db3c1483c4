// Makes the descriptors, chooses an algorithm, tries it out and calls it.
#include <algorithm>

#include "src/base/diagnostics.h"
#include "src/base/dtype.h"
#include "src/kernels/cuda/cudnn_conv.cuh"
#include "src/kernels/cuda/transpose_matrices.cuh"

namespace cgrun::cuda {

// The deterministic algorithms of the gradients that compute as the formula says.
constexpr auto kInputAlgorithm = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto kWeightAlgorithm = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

static int64_t InMiB(int64_t bytes) { return (bytes + (1 << 19)) >> 20; }

// Throws UserError with CUDA's own words.
static void Require(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw UserError(what + ": " + cudaGetErrorString(status));
}

// Memory for a run that nobody reads.
class TrialMemory {
 public:
  explicit TrialMemory(int64_t bytes) {
    const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    Require(cudaMalloc(&memory_, size),
            "no room to try out a convolution on " + std::to_string(InMiB(bytes)) + " MiB");
    cudaMemset(memory_, 0, size);
  }
  ~TrialMemory() { cudaFree(memory_); }
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  std::byte* get() const { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_ = nullptr;
};

// Says whether padding that is the same at both ends gives as many outputs. cuDNN has no other
// padding.
static bool IsSymmetric(const WindowAxis& axis) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  const int64_t room = axis.input + 2 * axis.before - reach;
  return room >= 0 && room / axis.stride + 1 == axis.output;
}

static cudnnDataType_t DataType(DType dtype) {
  return dtype == DType::kBF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

// For the tensor cores cuDNN wants channels in eights, those of TF32 in fours: 16 bytes.
static int64_t ChannelsTogether(DType dtype) { return 16 / SizeOf(dtype); }

// With the channels last, cuDNN has code for the tensor cores, which take f32 as TF32 alone. For
// groups, cuDNN has code for plain tensors. For kernels of one element and odd channels, plain
// tensors were the faster.
static bool PrefersChannelsLast(const ConvTask& task) {
  const ConvSizes& sizes = task.sizes;
  const int64_t together = ChannelsTogether(task.dtype);
  return (task.dtype == DType::kBF16 || task.tf32) && sizes.groups == 1 &&
         sizes.kernel_plane() > 1 && sizes.channels % together == 0 &&
         sizes.filters % together == 0;
}

// Returns the bytes that were seen on a GPU to be enough. For f32, next to nothing is enough,
// unless the result is the gradient of the weights, which cuDNN adds up in parts. For bf16, the
// bytes include our copies with the channels last, and copies and parts of cuDNN's own. TF32 is
// assumed to need what bf16 needs, and copies of ours if it is to run on them.
int64_t CudnnConvWorkspace(const ConvTask& task) {
  constexpr int64_t kLeast = 1 << 20, kMostSmall = 32 << 20, kMost = 256 << 20, kSmallPart = 16;
  const bool is_bf16 = task.dtype == DType::kBF16, of_weight = task.result == ConvResult::kWeight;
  const bool by_tensor_cores = is_bf16 || task.tf32;
  const int64_t operands = SizeOf(task.dtype) * (task.input_elements() + task.output_elements() +
                                                 task.weight_elements());
  if (!by_tensor_cores && !of_weight) return kLeast + std::min(operands / kSmallPart, kMostSmall);
  const int64_t parts = of_weight ? 4 * task.weight_elements() * SizeOf(DType::kF32) : 0;
  const int64_t scratch = std::min(kLeast + 2 * operands + parts, kMost);
  const bool copies = is_bf16 || PrefersChannelsLast(task);
  return copies ? operands + 3 * kLibraryAlignment + scratch : scratch;
}

CudnnConv::CudnnConv(const ConvTask& task, cudnnTensorFormat_t format, bool bias)
    : task_(task), format_(format), handle_(CudnnHandle()) {
  const ConvSizes& sizes = task.sizes;
  input_ = {sizes.images, sizes.groups * sizes.channels, sizes.input_plane()};
  weight_ = {sizes.groups * sizes.filters, sizes.channels, sizes.kernel_plane()};
  output_ = {sizes.images, sizes.groups * sizes.filters, sizes.output_plane()};
  if (format == CUDNN_TENSOR_NHWC) {
    for (Tensor* tensor : {&input_, &weight_, &output_}) PlaceCopy(*tensor);
  }
  if (bias) cudnnCreateTensorDescriptor(&bias_);
}

CudnnConv::~CudnnConv() {
  if (x_ != nullptr) cudnnDestroyTensorDescriptor(x_);
  if (y_ != nullptr) cudnnDestroyTensorDescriptor(y_);
  if (bias_ != nullptr) cudnnDestroyTensorDescriptor(bias_);
  if (identity_ != nullptr) cudnnDestroyActivationDescriptor(identity_);
  if (filter_ != nullptr) cudnnDestroyFilterDescriptor(filter_);
  if (convolution_ != nullptr) cudnnDestroyConvolutionDescriptor(convolution_);
}

void CudnnConv::PlaceCopy(Tensor& tensor) {
  if (tensor.channels == 1 || tensor.plane == 1) return;
  tensor.copy = copies_bytes_;
  copies_bytes_ += RoundedUp(tensor.count * tensor.channels * tensor.plane * SizeOf(task_.dtype));
}

std::shared_ptr<const CudnnConv> CudnnConv::Make(const ConvTask& task) {
  const bool known = task.dtype == DType::kF32 || task.dtype == DType::kBF16;
  const Window& window = task.sizes.window;
  if (!known || !IsSymmetric(window.y) || !IsSymmetric(window.x) || !task.FitsInt()) return nullptr;
  Require(cudaGetLastError(), "the GPU reports");  // of before: no trial is to blame for it
  const bool last = PrefersChannelsLast(task);
  for (auto format : {last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                      last ? CUDNN_TENSOR_NCHW : CUDNN_TENSOR_NHWC}) {
    for (bool bias : {true, false}) {
      if (bias && !(task.bias && task.result == ConvResult::kOutput)) continue;
      if (auto conv = TryOut(task, format, bias)) return conv;
    }
  }
  if (!task.tf32) return nullptr;
  ConvTask exact = task;
  exact.tf32 = false;
  return Make(exact);
}

std::shared_ptr<const CudnnConv> CudnnConv::TryOut(const ConvTask& task, cudnnTensorFormat_t format,
                                                   bool bias) {
  std::shared_ptr<CudnnConv> conv(new CudnnConv(task, format, bias));
  const bool works = conv->copies_bytes_ <= task.workspace_bytes && conv->Describe() &&
                     conv->DescribeBias() && conv->ChooseAlgorithm() && conv->Works();
  return works ? conv : nullptr;
}

bool CudnnConv::Describe() {
  const auto as_int = [](int64_t value) { return static_cast<int>(value); };
  const cudnnDataType_t type = DataType(task_.dtype);
  const WindowAxis &wy = task_.sizes.window.y, &wx = task_.sizes.window.x;
  // f32 means f32: the default would let cuDNN round to TF32, as tensor cores do.
  const bool exact = task_.dtype == DType::kF32 && !task_.tf32;
  const cudnnMathType_t math = exact ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  const cudnnStatus_t statuses[] = {
      cudnnCreateTensorDescriptor(&x_),
      cudnnCreateTensorDescriptor(&y_),
      cudnnCreateFilterDescriptor(&filter_),
      cudnnCreateConvolutionDescriptor(&convolution_),
      cudnnSetTensor4dDescriptor(x_, format_, type, as_int(input_.count), as_int(input_.channels),
                                 as_int(wy.input), as_int(wx.input)),
      cudnnSetTensor4dDescriptor(y_, format_, type, as_int(output_.count), as_int(output_.channels),
                                 as_int(wy.output), as_int(wx.output)),
      cudnnSetFilter4dDescriptor(filter_, type, format_, as_int(weight_.count),
                                 as_int(weight_.channels), as_int(wy.kernel), as_int(wx.kernel)),
      cudnnSetConvolution2dDescriptor(
          convolution_, as_int(wy.before), as_int(wx.before), as_int(wy.stride), as_int(wx.stride),
          as_int(wy.dilation), as_int(wx.dilation), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
      cudnnSetConvolutionGroupCount(convolution_, as_int(task_.sizes.groups)),
      cudnnSetConvolutionMathType(convolution_, math),
  };
  return std::all_of(std::begin(statuses), std::end(statuses),
                     [](cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; });
}

bool CudnnConv::DescribeBias() {
  if (bias_ == nullptr) return true;
  return cudnnCreateActivationDescriptor(&identity_) == CUDNN_STATUS_SUCCESS &&
         cudnnSetActivationDescriptor(identity_, CUDNN_ACTIVATION_IDENTITY, CUDNN_PROPAGATE_NAN,
                                      0) == CUDNN_STATUS_SUCCESS &&
         cudnnSetTensor4dDescriptor(bias_, format_, DataType(task_.dtype), 1,
                                    static_cast<int>(output_.channels), 1,
                                    1) == CUDNN_STATUS_SUCCESS;
}

bool CudnnConv::Fits(cudnnStatus_t status, size_t bytes) {
  scratch_bytes_ = static_cast<int64_t>(bytes);
  return status == CUDNN_STATUS_SUCCESS && scratch_bytes_ <= task_.workspace_bytes - copies_bytes_;
}

// The algorithms of Winograd and Fourier are left out, because they round more.
bool CudnnConv::ChooseAlgorithm() {
  size_t bytes = 0;
  switch (task_.result) {
    case ConvResult::kOutput:
      for (auto algorithm : {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM}) {
        forward_ = algorithm;
        const cudnnStatus_t status = cudnnGetConvolutionForwardWorkspaceSize(
            handle_, x_, filter_, convolution_, y_, algorithm, &bytes);
        if (Fits(status, bytes)) return true;
        if (adds_bias()) return false;  // only the first algorithm adds it
      }
      return false;
    case ConvResult::kInput:
      return Fits(cudnnGetConvolutionBackwardDataWorkspaceSize(handle_, filter_, y_, convolution_,
                                                               x_, kInputAlgorithm, &bytes),
                  bytes);
    case ConvResult::kWeight:
      return Fits(cudnnGetConvolutionBackwardFilterWorkspaceSize(handle_, x_, y_, convolution_,
                                                                 filter_, kWeightAlgorithm, &bytes),
                  bytes);
  }
  return false;
}

// Transposes each matrix of a stack whose elements have `size` bytes.
static void Transpose(const RunContext& context, int64_t size, int64_t count, int64_t rows,
                      int64_t columns, const void* from, void* to) noexcept {
  if (size == 2) {
    TransposeMatrices(context, count, rows, columns, static_cast<const uint16_t*>(from),
                      static_cast<uint16_t*>(to));
  } else {
    TransposeMatrices(context, count, rows, columns, static_cast<const uint32_t*>(from),
                      static_cast<uint32_t*>(to));
  }
}

// Returns where cuDNN is to read a tensor that lies in `plain`.
void* CudnnConv::Copied(const RunContext& context, const Tensor& tensor, void* plain,
                        std::byte* workspace) const noexcept {
  if (tensor.copy < 0) return plain;
  std::byte* const copy = workspace + tensor.copy;
  Transpose(context, SizeOf(task_.dtype), tensor.count, tensor.channels, tensor.plane, plain, copy);
  return copy;
}

void CudnnConv::CopyBack(const RunContext& context, const Tensor& tensor, void* plain,
                         std::byte* workspace) const noexcept {
  if (tensor.copy < 0) return;
  Transpose(context, SizeOf(task_.dtype), tensor.count, tensor.plane, tensor.channels,
            workspace + tensor.copy, plain);
}

cudnnStatus_t CudnnConv::Run(const RunContext& context, void* x, void* weight, const void* bias,
                             void* y, std::byte* workspace) const noexcept {
  const cudnnStatus_t status = cudnnSetStream(handle_, StreamOf(context));
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const auto place = [&](const Tensor& tensor, void* plain, ConvResult written) -> void* {
    if (task_.result != written) return Copied(context, tensor, plain, workspace);
    return tensor.copy < 0 ? plain : workspace + tensor.copy;
  };
  void* const x_here = place(input_, x, ConvResult::kInput);
  void* const weight_here = place(weight_, weight, ConvResult::kWeight);
  void* const y_here = place(output_, y, ConvResult::kOutput);
  const cudnnStatus_t called = Call(x_here, weight_here, bias, y_here, workspace + copies_bytes_);
  if (task_.result == ConvResult::kInput) CopyBack(context, input_, x, workspace);
  if (task_.result == ConvResult::kWeight) CopyBack(context, weight_, weight, workspace);
  if (task_.result == ConvResult::kOutput) CopyBack(context, output_, y, workspace);
  return called;
}

cudnnStatus_t CudnnConv::Call(void* x, void* weight, const void* bias, void* y,
                              std::byte* scratch) const noexcept {
  const float one = 1, zero = 0;
  const auto bytes = static_cast<size_t>(task_.workspace_bytes - copies_bytes_);
  switch (task_.result) {
    case ConvResult::kOutput:
      if (adds_bias()) {
        return cudnnConvolutionBiasActivationForward(handle_, &one, x_, x, filter_, weight,
                                                     convolution_, forward_, scratch, bytes, &zero,
                                                     y_, y, bias_, bias, identity_, y_, y);
      }
      return cudnnConvolutionForward(handle_, &one, x_, x, filter_, weight, convolution_, forward_,
                                     scratch, bytes, &zero, y_, y);
    case ConvResult::kInput:
      return cudnnConvolutionBackwardData(handle_, &one, filter_, weight, y_, y, convolution_,
                                          kInputAlgorithm, scratch, bytes, &zero, x_, x);
    case ConvResult::kWeight:
      return cudnnConvolutionBackwardFilter(handle_, &one, x_, x, y_, y, convolution_,
                                            kWeightAlgorithm, scratch, bytes, &zero, filter_,
                                            weight);
  }
  return CUDNN_STATUS_BAD_PARAM;
}

// If cuDNN refuses something only when it runs, it leaves an error behind, which no later wait is
// to report.
bool CudnnConv::Works() const {
  const int64_t size = SizeOf(task_.dtype);
  const TrialMemory x(task_.input_elements() * size), y(task_.output_elements() * size);
  const TrialMemory weight(task_.weight_elements() * size), bias(output_.channels * size);
  const TrialMemory workspace(task_.workspace_bytes);
  const cudnnStatus_t status = Run({}, x.get(), weight.get(), bias.get(), y.get(), workspace.get());
  const bool ran = cudaStreamSynchronize(nullptr) == cudaSuccess;
  const bool started = cudaGetLastError() == cudaSuccess;
  Require(cudaDeviceSynchronize(), "the GPU has failed");  // after which nothing runs on it
  return status == CUDNN_STATUS_SUCCESS && ran && started;
}

std::string CudnnConv::ToString() const {
  return std::string(format_ == CUDNN_TENSOR_NHWC ? "channels last" : "plain") +
         (adds_bias() ? ", with bias, " : ", ") + std::to_string(InMiB(copies_bytes_)) + " + " +
         std::to_string(InMiB(scratch_bytes_)) + " of " +
         std::to_string(InMiB(task_.workspace_bytes)) + " MiB";
}

}  // namespace cgrun::cuda
