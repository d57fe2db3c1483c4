// Bits in the place of what relu made: the arena is smaller by what nothing else keeps, and no bit
// of the weights is another.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// A relu stands before an average, and before and behind a pool. It also stands before a
// concatenation and before dropout. The results of these two are kept, so that its output is kept,
// too. Channels and sizes leave a part of a byte and of a vector over.
constexpr const char* kModel = R"(
cgrun: 1
model: bits
data:
  train: {format: synthetic, samples: 30, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 30, 26]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 44, kernel: 3, padding: 1, activation: relu}
      - a: {op: avg_pool, kernel: 3, stride: 2, ceil_mode: true}
      - b: {op: conv, in: a, filters: 12, kernel: 1, activation: relu}
      - c: {op: conv, in: a, filters: 16, kernel: 3, padding: 1, activation: relu}
      - {op: concat, in: [b, c], axis: 1}
      - {op: conv, filters: 32, kernel: 3, padding: 1}
      - {op: max_pool, kernel: 2, activation: relu}
      - {op: dropout, rate: 0.25}
      - global_avg_pool
      - flatten
      - {op: linear, units: 1999, activation: relu}
      - {op: dropout, rate: 0.5}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 15, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";
constexpr int64_t kLargest = 4 * 15 * 44 * 30 * 26;  // bytes of the first relu's result

struct Outcome : PlannedOutcome {
  int64_t gradients = 0;  // of a step, by bits
};

Outcome Train(const std::string& device, int threads, Mode mode,
              const std::vector<std::string>& disabled, const std::string& precision = "f32") {
  SessionOptions options;
  options.device = device;
  options.mode = mode;
  options.compile.threads = threads;
  options.compile.passes.disabled = disabled;
  Outcome outcome{TrainPlanned(ModelOf(kModel, {"train.precision=" + precision}), options)};
  outcome.gradients = std::ranges::count_if(outcome.kernels, [](const std::string& kernel) {
    return kernel.find("relu_grad_by_bits") != std::string::npos;
  });
  return outcome;
}

TEST(ReluBits, NeedLessAndChangeNoBit) {
  for (const char* device : {"reference", "blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (int threads : {1, 2}) {
      const std::string name = device + (", " + std::to_string(threads)) + " threads";
      // With layouts, convolutions beside them could be others.
      const std::vector<std::string> plain = {"fuse_activations", "layouts", "rematerialise"};
      std::vector<std::string> without = plain;
      without.push_back("relu_bits");
      const Outcome bits = Train(device, threads, Mode::kGraph, plain);
      const Outcome whole = Train(device, threads, Mode::kGraph, without);
      const Outcome eager = Train(device, threads, Mode::kEager, {});
      EXPECT_EQ(bits.gradients, 2) << name;
      EXPECT_EQ(whole.gradients, 0) << name;
      EXPECT_LT(bits.arena_bytes, whole.arena_bytes - kLargest / 2) << name;
      EXPECT_EQ(bits.weights_hash, whole.weights_hash) << name;
      EXPECT_EQ(bits.weights_hash, eager.weights_hash) << name;
    }
  }
}

// In whatever layouts convolutions choose, and as a part of what else is done.
TEST(ReluBits, ChangeNoBitBesideLayoutsAndFusions) {
  for (const char* device : {"blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) continue;
    for (const char* precision : {"f32", "bf16"}) {
      const std::string name = device + (", " + std::string(precision));
      const Outcome bits = Train(device, 2, Mode::kGraph, {}, precision);
      const Outcome whole = Train(device, 2, Mode::kGraph, {"relu_bits"}, precision);
      EXPECT_GE(bits.gradients, 1) << name;
      EXPECT_EQ(whole.gradients, 0) << name;
      EXPECT_EQ(bits.weights_hash, whole.weights_hash) << name;
    }
  }
}

}  // namespace
}  // namespace cgrun
