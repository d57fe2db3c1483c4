// Convolutions that are pooled as they are made: the arena is smaller by what lies between the two,
// forward and backward, and no bit of the weights is another.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Windows that overlap and hang over the end, and windows that do not; an activation between,
// behind or not at all; sizes that leave part of a tile and of a vector over.
constexpr const char* kModel = R"(
cgrun: 1
model: pools
data:
  train: {format: synthetic, samples: 45, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 29, 31]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 18, kernel: 5, padding: 2, activation: relu}
      - {op: max_pool, kernel: 3, stride: 2, ceil_mode: true}
      - {op: conv, filters: 20, kernel: 3}
      - {op: max_pool, kernel: 2}
      - relu
      - {op: conv, filters: 7, kernel: 3, padding: 1, bias: false, activation: leaky_relu}
      - {op: max_pool, kernel: 2, padding: 1}
      - flatten
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 21, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";
constexpr int64_t kLargest = 4 * 21 * 18 * 29 * 31;  // bytes of the first convolution's result

struct Outcome : PlannedOutcome {
  int64_t fused = 0;  // nodes of a step with a pool or its gradient in them
};

Outcome Train(const std::string& device, int threads, Mode mode,
              const std::vector<std::string>& disabled) {
  SessionOptions options;
  options.device = device;
  options.mode = mode;
  options.compile.threads = threads;
  options.compile.passes.disabled = disabled;
  Outcome outcome{TrainPlanned(ModelOf(kModel), options)};
  outcome.fused = std::ranges::count_if(outcome.kernels, [](const std::string& kernel) {
    return kernel == "cpu.conv_max_pool" || kernel.starts_with("cpu.max_pool_grad_");
  });
  return outcome;
}

TEST(FusedPools, NeedNoLargeTensorsAndChangeNoBit) {
  for (const char* device : {"blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (int threads : {1, 2}) {
      const std::string name = device + (", " + std::to_string(threads)) + " threads";
      // With layouts, convolutions beside them could be others.
      const Outcome fused = Train(device, threads, Mode::kGraph, {"layouts"});
      const Outcome apart = Train(device, threads, Mode::kGraph, {"layouts", "fuse_pools"});
      const Outcome eager = Train(device, threads, Mode::kEager, {});
      // The last convolution's result is small. oneDNN's kernels can be faster by themselves:
      // which, depends on the instruction set.
      EXPECT_GE(fused.fused, device == std::string("blas") ? 2 + 2 + 3 : 2 + 2) << name;
      EXPECT_EQ(apart.fused, 0) << name;
      EXPECT_LT(fused.arena_bytes, apart.arena_bytes - kLargest / 2) << name;
      EXPECT_EQ(fused.weights_hash, apart.weights_hash) << name;
      EXPECT_EQ(fused.weights_hash, eager.weights_hash) << name;
    }
  }
}

TEST(FusedPools, AreNotForTheReferenceDevice) {
  EXPECT_EQ(Train("reference", 1, Mode::kGraph, {}).fused, 0);
}

}  // namespace
}  // namespace cgrun
