// Weights that are updated as their gradients are made: on every device that has kernels for that,
// the arena is smaller by the largest gradient, and no bit of the weights is another.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Sizes that leave part of a tile, a vector and a block over; the first weight is most of all.
std::string ModelWith(const std::string& optimizer) {
  return R"(
cgrun: 1
model: rows
data:
  train: {format: synthetic, samples: 45, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 15, 15]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - flatten
      - {op: linear, units: 203, activation: relu}
      - {op: linear, units: 41, activation: relu, bias: false}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 21, optimizer: {)" +
         optimizer + "}}\n";
}

struct Outcome : PlannedOutcome {
  int64_t fused = 0;  // updates, of a step
};

Outcome Train(const std::string& device, int threads, const std::string& optimizer, Mode mode,
              const std::vector<std::string>& disabled) {
  SessionOptions options;
  options.device = device;
  options.mode = mode;
  options.compile.threads = threads;
  options.compile.passes.disabled = disabled;
  Outcome outcome{TrainPlanned(ModelOf(ModelWith(optimizer)), options)};
  outcome.fused = std::ranges::count_if(
      outcome.kernels, [](const std::string& kernel) { return kernel.ends_with("_by_product"); });
  return outcome;
}

constexpr const char* kOptimizers[] = {
    "op: sgd, lr: 0.05",
    "op: sgd, lr: 0.05, momentum: 0.9, weight_decay: 1.0e-3",
    "op: sgd, lr: 0.05, momentum: 0.9, nesterov: true",
    "op: adam, lr: 0.01",
    "op: adamw, lr: 0.01",
    "op: rmsprop, lr: 0.01",
    "op: rmsprop, lr: 0.01, momentum: 0.9, centered: true",
    "op: adagrad, lr: 0.01",
};

TEST(FusedUpdates, NeedNoGradientAndChangeNoBit) {
  for (const char* device : {"blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (const char* optimizer : kOptimizers) {
      for (int threads : {1, 2}) {
        const std::string name = device + (", " + std::to_string(threads)) + ", " + optimizer;
        const Outcome fused = Train(device, threads, optimizer, Mode::kGraph, {});
        const Outcome apart = Train(device, threads, optimizer, Mode::kGraph, {"fuse_updates"});
        const Outcome eager = Train(device, threads, optimizer, Mode::kEager, {});
        EXPECT_GE(fused.fused, 2) << name << ": the last one is hardly larger than its workspace";
        EXPECT_EQ(apart.fused, 0) << name;
        EXPECT_LT(fused.arena_bytes, apart.arena_bytes - 4 * 203 * 675 / 2) << name;
        EXPECT_EQ(fused.weights_hash, apart.weights_hash) << name;
        EXPECT_EQ(fused.weights_hash, eager.weights_hash) << name;
      }
    }
  }
}

TEST(FusedUpdates, AreNotForTheReferenceDevice) {
  const Outcome reference = Train("reference", 1, "op: sgd, lr: 0.05", Mode::kGraph, {});
  EXPECT_EQ(reference.fused, 0);
}

}  // namespace
}  // namespace cgrun
