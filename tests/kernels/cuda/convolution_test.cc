// Runs on a GPU. For models that are trained on one, the libraries must have deterministic code for
// all convolutions, so that none runs as plain loops. The test prints which code runs, how long it
// takes, and the time of other code. If cuBLAS and cuDNN can both compute a convolution, the
// results are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "src/device/cuda.h"
#include "src/kernels/cuda/handles.cuh"
#include "src/kernels/cuda/library_conv.cuh"

namespace cgrun::cuda {
namespace {

// Square images and windows, padded to ⌈size ÷ stride⌉ outputs.
struct Convolution {
  int64_t channels, size, filters, kernel, stride, groups;
  bool bias;
};

// The first convolutions are those of resnet50. Then come vgg16's first, and mobilenet-v2's in
// groups.
constexpr Convolution kConvolutions[] = {
    {3, 224, 64, 7, 2, 1, false},    {64, 56, 64, 1, 1, 1, false},
    {64, 56, 64, 3, 1, 1, false},    {64, 56, 256, 1, 1, 1, false},
    {256, 56, 64, 1, 1, 1, false},   {256, 56, 512, 1, 2, 1, false},
    {128, 56, 128, 3, 2, 1, false},  {128, 28, 512, 1, 1, 1, false},
    {512, 28, 128, 1, 1, 1, false},  {128, 28, 128, 3, 1, 1, false},
    {512, 28, 1024, 1, 2, 1, false}, {256, 28, 256, 3, 2, 1, false},
    {256, 14, 1024, 1, 1, 1, false}, {1024, 14, 256, 1, 1, 1, false},
    {256, 14, 256, 3, 1, 1, false},  {1024, 14, 2048, 1, 2, 1, false},
    {512, 14, 512, 3, 2, 1, false},  {512, 7, 2048, 1, 1, 1, false},
    {2048, 7, 512, 1, 1, 1, false},  {512, 7, 512, 3, 1, 1, false},
    {3, 224, 64, 3, 1, 1, true},     {96, 112, 96, 3, 2, 96, false},
    {384, 14, 384, 3, 1, 384, false}};
constexpr int64_t kImages = 32;
constexpr ConvResult kResults[] = {ConvResult::kOutput, ConvResult::kInput, ConvResult::kWeight};
constexpr const char* kResultNames[] = {"y", "dx", "dw"};

ConvTask TaskOf(const Convolution& c, ConvResult result, DType dtype) {
  WindowAxis axis;
  axis.input = c.size;
  axis.kernel = c.kernel;
  axis.stride = c.stride;
  axis.before = axis.after = (c.kernel - 1) / 2;
  axis.output = (c.size + 2 * axis.before - c.kernel) / c.stride + 1;
  ConvTask task;
  task.result = result;
  task.sizes = {{axis, axis}, kImages, c.groups, c.channels / c.groups, c.filters / c.groups};
  task.dtype = dtype;
  task.bias = c.bias && result == ConvResult::kOutput;
  return task;
}

// Holds memory of the device, zeroed.
class Memory {
 public:
  Memory(Device& device, int64_t bytes)
      : device_(device), at_(device.Allocate(ArenaKind::kDevice, bytes)) {}
  ~Memory() { device_.Free(ArenaKind::kDevice, at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  std::byte* at() const { return at_; }

 private:
  Device& device_;
  std::byte* at_;
};

// Numbers of a type, as the device has them.
std::vector<std::byte> Encode(const std::vector<float>& numbers, DType dtype) {
  const auto size = static_cast<size_t>(SizeOf(dtype));
  std::vector<std::byte> bytes(numbers.size() * size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = std::bit_cast<uint32_t>(numbers[i]);
    for (size_t k = 0; k < size; ++k) {
      bytes[i * size + k] = static_cast<std::byte>(bits >> 8 * (4 - size + k));
    }
  }
  return bytes;
}
std::vector<float> Decode(const std::vector<std::byte>& bytes, DType dtype) {
  const auto size = static_cast<size_t>(SizeOf(dtype));
  std::vector<float> numbers(bytes.size() / size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    uint32_t bits = 0;
    for (size_t k = 0; k < size; ++k) {
      bits |= static_cast<uint32_t>(bytes[i * size + k]) << 8 * (4 - size + k);
    }
    numbers[i] = std::bit_cast<float>(bits);
  }
  return numbers;
}

// A convolution's tensors, with numbers in [−1, 1) where results are compared, else zeros.
class Operands {
 public:
  Operands(Device& device, Stream stream, const ConvTask& task)
      : device_(device),
        stream_(stream),
        task_(task),
        x_(device, task.input_elements() * size()),
        y_(device, task.output_elements() * size()),
        weight_(device, task.weight_elements() * size()),
        bias_(device, task.sizes.groups * task.sizes.filters * size()) {
    if (!PointwiseConv::CanRun(task)) return;
    Fill(x_, task.input_elements());
    Fill(y_, task.output_elements());
    Fill(weight_, task.weight_elements());
  }

  // `run(context, x, weight, bias, y)` and how long it takes, in seconds: the least of a few.
  template <class Run>
  double Measure(Run run) {
    constexpr int kRuns = 5;
    RunContext context;
    context.stream = stream_;
    const auto clock = device_.MakeClock(stream_, kRuns + 1);
    clock->Mark();
    for (int i = 0; i < kRuns; ++i) {
      run(context, x_.at(), weight_.at(), bias_.at(), y_.at());
      clock->Mark();
    }
    int64_t times[kRuns + 1];
    clock->Read(times);
    int64_t least = times[1];
    for (int i = 1; i < kRuns; ++i) least = std::min(least, times[i + 1] - times[i]);
    return static_cast<double>(least) * 1e-9;
  }

  std::vector<float> Result() {
    const bool is_y = task_.result == ConvResult::kOutput;
    const bool is_x = task_.result == ConvResult::kInput;
    const int64_t elements = is_y   ? task_.output_elements()
                             : is_x ? task_.input_elements()
                                    : task_.weight_elements();
    std::vector<std::byte> bytes(static_cast<size_t>(elements * size()));
    device_.Copy(CopyKind::kDeviceToHost, bytes.data(),
                 (is_y   ? y_
                  : is_x ? x_
                         : weight_)
                     .at(),
                 elements * size(), stream_);
    device_.Synchronize(stream_);
    return Decode(bytes, task_.dtype);
  }

 private:
  int64_t size() const { return SizeOf(task_.dtype); }
  void Fill(const Memory& memory, int64_t elements) {
    std::vector<float> numbers(static_cast<size_t>(elements));
    for (float& number : numbers) {
      number = static_cast<float>(static_cast<int>(random_() >> 16) - (1 << 15)) / (1 << 15);
    }
    const std::vector<std::byte> bytes = Encode(numbers, task_.dtype);
    device_.Copy(CopyKind::kHostToDevice, memory.at(), bytes.data(), elements * size(), stream_);
    device_.Synchronize(stream_);
  }

  Device& device_;
  Stream stream_;
  ConvTask task_;
  std::minstd_rand random_{7};
  const Memory x_, y_, weight_, bias_;
};

void Print(const std::string& what, const ConvTask& task, double seconds, const std::string& how) {
  const double flops = 2.0 * static_cast<double>(task.output_elements() * task.sizes.taps());
  std::printf("%-44s %8.1f us %7.1f TFLOP/s  %s\n", what.c_str(), seconds * 1e6,
              flops / seconds * 1e-12, how.c_str());
}

// Returns how far results of the same terms may lie apart if they are added up in another order and
// rounded.
double Tolerance(const ConvTask& task, double greatest) {
  const int64_t plane = task.sizes.images * task.sizes.output_plane();
  const int64_t terms = task.result == ConvResult::kOutput  ? task.sizes.taps()
                        : task.result == ConvResult::kInput ? task.sizes.filters
                                                            : plane;
  const double sum = std::sqrt(static_cast<double>(terms)) * std::ldexp(1.0, -23);
  return greatest * (task.dtype == DType::kBF16 ? sum + std::ldexp(1.0, -7) : sum);
}

void ExpectSame(const std::vector<float>& one, const std::vector<float>& other,
                const ConvTask& task, const std::string& what) {
  ASSERT_EQ(one.size(), other.size());
  double greatest = 0, difference = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    const double a = one[i], b = other[i];
    greatest = std::max(greatest, std::abs(b));
    if (!(std::abs(a - b) <= difference)) difference = std::abs(a - b);
  }
  EXPECT_GT(greatest, 0) << what;
  EXPECT_LE(difference, Tolerance(task, greatest)) << what << ", greatest " << greatest;
}

std::string Describe(const Convolution& c, ConvResult result, DType dtype) {
  char what[96];
  std::snprintf(what, sizeof(what), "%-4s %-2s %4ld x %3ld -> %4ld, %ld/%ld, %3ld groups",
                std::string(Name(dtype)).c_str(), kResultNames[static_cast<int>(result)],
                static_cast<long>(c.channels), static_cast<long>(c.size),
                static_cast<long>(c.filters), static_cast<long>(c.kernel),
                static_cast<long>(c.stride), static_cast<long>(c.groups));
  return what;
}

// Compares the implementation that runs a convolution in a plan with the others that could.
void Compare(Device& device, Stream stream, const ConvTask& task, const std::string& what) {
  constexpr const char* kInstead = "    instead";
  Operands operands(device, stream, task);
  const LibraryConv chosen = LibraryConv::Make(task);
  ASSERT_TRUE(chosen.exists()) << what;
  std::vector<float> by_cublas, by_cudnn;
  const auto try_out = [&](const std::string& name, const LibraryConv& conv, int64_t bytes) {
    const Memory workspace(device, bytes);
    const auto run = [&](const RunContext& context, void* x, void* weight, void* bias, void* y) {
      conv.Run(context, x, weight, bias, y, workspace.at());
    };
    Print(name, task, operands.Measure(run), conv.ToString());
    if (PointwiseConv::CanRun(task)) {
      (conv.pointwise.has_value() ? by_cublas : by_cudnn) = operands.Result();
    }
  };
  try_out(what, chosen, LibraryConv::WorkspaceOf(task));
  if (PointwiseConv::CanRun(task) && !chosen.pointwise.has_value()) {
    LibraryConv other;
    other.pointwise.emplace(task);
    try_out(kInstead, other, PointwiseConv::WorkspaceOf(task));
  }
  ConvTask roomy = task;
  roomy.workspace_bytes = int64_t{1} << 30;
  for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
    const LibraryConv other{{}, CudnnConv::TryOut(roomy, format, task.bias)};
    const bool same = chosen.cudnn != nullptr && other.exists() &&
                      chosen.cudnn->channels_last() == other.cudnn->channels_last() &&
                      chosen.adds_bias() == other.adds_bias();
    if (other.exists() && !same) try_out(kInstead, other, roomy.workspace_bytes);
  }
  if (!by_cublas.empty() && !by_cudnn.empty()) ExpectSame(by_cublas, by_cudnn, task, what);
}

TEST(Convolutions, NoneRunsAsPlainLoops) {
  if (!HasCudaDevice()) GTEST_SKIP() << "there is no GPU in this machine";
  const auto device = OpenCudaDevice("cuda");
  device->UseThreads(1);
  const Stream stream = device->CreateStream();
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    for (const Convolution& c : kConvolutions) {
      for (ConvResult result : kResults) {
        Compare(*device, stream, TaskOf(c, result, dtype), Describe(c, result, dtype));
      }
    }
  }
}

}  // namespace
}  // namespace cgrun::cuda
