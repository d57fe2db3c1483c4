// On a GPU: cuDNN has deterministic code for the convolutions of models that are trained on one, so
// that none of them runs as plain loops; which code, how long it takes, and what other code would,
// is printed.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/device/cuda.h"
#include "src/kernels/cuda/cudnn_conv.cuh"
#include "src/kernels/cuda/handles.cuh"

namespace cgrun::cuda {
namespace {

// Square images and windows, padded to ⌈size ÷ stride⌉ outputs.
struct Convolution {
  int64_t channels, size, filters, kernel, stride, groups;
  bool bias;
};

// Of resnet50, then others: vgg16's first, mobilenet-v2's in groups.
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
  task.workspace_bytes = CudnnConvWorkspace(task);
  return task;
}

// Memory of the device, zeroed.
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

// Of one run, in seconds: the least of a few.
double Measure(Device& device, Stream stream, const ConvTask& task, const CudnnConv& conv) {
  const int64_t size = SizeOf(task.dtype);
  const Memory x(device, task.input_elements() * size), y(device, task.output_elements() * size);
  const Memory weight(device, task.weight_elements() * size);
  const Memory bias(device, task.sizes.groups * task.sizes.filters * size);
  const Memory workspace(device, task.workspace_bytes);
  RunContext context;
  context.stream = stream;
  constexpr int kRuns = 5;
  const auto clock = device.MakeClock(stream, kRuns + 1);
  clock->Mark();
  for (int i = 0; i < kRuns; ++i) {
    Check(conv.Run(context, x.at(), weight.at(), bias.at(), y.at(), workspace.at()));
    clock->Mark();
  }
  int64_t times[kRuns + 1];
  clock->Read(times);
  int64_t least = times[1];
  for (int i = 1; i < kRuns; ++i) least = std::min(least, times[i + 1] - times[i]);
  return static_cast<double>(least) * 1e-9;
}

void Print(const char* what, Device& device, Stream stream, const ConvTask& task,
           const CudnnConv& conv) {
  const double seconds = Measure(device, stream, task, conv);
  const double flops = 2.0 * static_cast<double>(task.output_elements() * task.sizes.taps());
  std::printf("%-44s %8.1f us %7.1f TFLOP/s  %s\n", what, seconds * 1e6, flops / seconds * 1e-12,
              conv.ToString().c_str());
}

TEST(Convolutions, NoneRunsAsPlainLoops) {
  if (!HasCudaDevice()) GTEST_SKIP() << "there is no GPU in this machine";
  const auto device = OpenCudaDevice("cuda");
  device->UseThreads(1);
  const Stream stream = device->CreateStream();
  for (DType dtype : {DType::kF32, DType::kBF16}) {
    for (const Convolution& c : kConvolutions) {
      for (ConvResult result : kResults) {
        const ConvTask task = TaskOf(c, result, dtype);
        char what[96];
        std::snprintf(what, sizeof(what), "%-4s %-2s %4ld x %3ld -> %4ld, %ld/%ld, %3ld groups",
                      std::string(Name(dtype)).c_str(), kResultNames[static_cast<int>(result)],
                      static_cast<long>(c.channels), static_cast<long>(c.size),
                      static_cast<long>(c.filters), static_cast<long>(c.kernel),
                      static_cast<long>(c.stride), static_cast<long>(c.groups));
        const auto conv = CudnnConv::Make(task);
        EXPECT_NE(conv, nullptr) << what;
        if (conv != nullptr) Print(what, *device, stream, task, *conv);
        for (auto format : {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}) {
          const auto other = CudnnConv::TryOut(task, format, task.bias);
          if (other == nullptr || conv == nullptr || other->ToString() == conv->ToString())
            continue;
          Print("    instead", *device, stream, task, *other);
        }
      }
    }
  }
}

}  // namespace
}  // namespace cgrun::cuda
