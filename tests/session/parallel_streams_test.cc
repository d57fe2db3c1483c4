// Small operators side by side: no bit of the weights is another, and no byte more is taken.
#include <gtest/gtest.h>

#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Two towers that meet in their loss, large enough for streams and too small for a team.
constexpr char kTowers[] = R"(
cgrun: 1
model: towers
data:
  train: {format: synthetic, samples: 96, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - x: flatten
      - {op: linear, in: x, units: 150, activation: tanh}
      - {op: linear, units: 150, activation: tanh}
      - a: {op: linear, units: 4}
      - {op: linear, in: x, units: 150, activation: relu}
      - {op: dropout, rate: 0.5}
      - {op: linear, units: 150, activation: relu}
      - b: {op: linear, units: 4}
      - logits: {op: add, in: [a, b]}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 20, batch: 32, optimizer: {op: adam, lr: 0.01}}
)";

PlannedOutcome Train(const std::string& device, int threads, Mode mode, bool streams) {
  SessionOptions options;
  options.device = device;
  options.mode = mode;
  options.compile.threads = threads;
  if (!streams) options.compile.passes.disabled = {"lanes"};
  return TrainPlanned(ModelOf(kTowers), options);
}

TEST(Streams, ChangeNoBitAndTakeNoMore) {
  for (const char* device : {"blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (const int threads : {2, 3}) {
      const std::string name = device + (", " + std::to_string(threads)) + " threads";
      const PlannedOutcome side = Train(device, threads, Mode::kGraph, true);
      const PlannedOutcome one = Train(device, threads, Mode::kGraph, false);
      EXPECT_GT(side.in_streams, 10) << name;
      EXPECT_EQ(one.in_streams, 0) << name;
      EXPECT_EQ(side.weights_hash, one.weights_hash) << name;
      EXPECT_EQ(side.weights_hash, Train(device, threads, Mode::kEager, true).weights_hash) << name;
      EXPECT_LE(side.arena_bytes, one.arena_bytes) << name;
    }
    EXPECT_EQ(Train(device, 1, Mode::kGraph, true).in_streams, 0) << device;
  }
}

}  // namespace
}  // namespace cgrun
