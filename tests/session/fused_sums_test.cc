// Weights that are used several times: on every device that has a kernel for that, their gradients
// are added up as they are made, the arena is smaller for it, and no bit of the weights is another.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// A cell that is unrolled over six rows, with sizes that leave part of a tile and a vector over;
// the gradients of its weight are most of all.
constexpr char kUnrolled[] = R"(
cgrun: 1
model: unrolled
data:
  train: {format: synthetic, samples: 45, classes: 4}
inputs:
  image: {type: uint8, shape: [1, 6, 51]}
  label: {type: int32, shape: []}
networks:
  cell:
    in: [row, h]
    ops:
      - {op: concat, in: [row, h]}
      - {op: linear, units: 203, activation: tanh}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - rows: {op: reshape, shape: [6, 51]}
      - {op: slice, in: rows, axes: [1], starts: [0], ends: [1]}
      - flatten
      - h: {op: linear, units: 203}
      - {network: cell, in: [rows, h], unroll: 1, out: [states, last]}
      - logits: {op: linear, in: last, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 21, optimizer: {op: adam, lr: 0.01}}
)";

struct Outcome : PlannedOutcome {
  int64_t sums = 0;  // that are made with a product, of a step
};

Outcome Train(const std::string& device, int threads, Mode mode,
              const std::vector<std::string>& disabled) {
  SessionOptions options;
  options.device = device;
  options.mode = mode;
  options.compile.threads = threads;
  options.compile.passes.disabled = disabled;
  Outcome outcome{TrainPlanned(ModelOf(kUnrolled), options)};
  outcome.sums = std::ranges::count(outcome.kernels, "cpu.add_by_product");
  return outcome;
}

TEST(FusedSums, NeedNoGradientOfAUseAndChangeNoBit) {
  for (const char* device : {"blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (int threads : {1, 2}) {
      const std::string name = device + (", " + std::to_string(threads));
      const Outcome fused = Train(device, threads, Mode::kGraph, {});
      const Outcome apart = Train(device, threads, Mode::kGraph, {"fuse_sums"});
      const Outcome eager = Train(device, threads, Mode::kEager, {});
      EXPECT_EQ(fused.sums, 2) << name << ": one of six uses has nothing to be added to, three and "
                               << "two of the others go in a sweep";
      EXPECT_EQ(apart.sums, 0) << name;
      EXPECT_LT(fused.arena_bytes, apart.arena_bytes) << name;
      EXPECT_EQ(fused.weights_hash, apart.weights_hash) << name;
      EXPECT_EQ(fused.weights_hash, eager.weights_hash) << name;
    }
  }
}

TEST(FusedSums, AreNotForTheReferenceDevice) {
  EXPECT_EQ(Train("reference", 1, Mode::kGraph, {}).sums, 0);
}

}  // namespace
}  // namespace cgrun
