// Recomputes values of a network with batch normalisation. On every device of the host, this lowers
// the arena and changes no bit of the weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// The model has one residual block after another, as in ResNet.
constexpr char kModel[] = R"(
cgrun: 1
model: blocks
data:
  train: {format: synthetic, samples: 24, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 16, 16]}
  label: {type: int32, shape: []}
blocks:
  basic:
    in: x
    ops:
      - {op: conv, in: x, filters: 16, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: conv, filters: 16, kernel: 3, padding: 1, bias: false}
      - y: {op: batch_norm}
      - {op: add, in: [x, y]}
      - relu
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 16, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
      - {block: basic, repeat: 3}
      - {op: global_avg_pool}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 8, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

struct Outcome {
  uint64_t weights_hash = 0;
  int64_t arena_bytes = 0;
  int64_t recomputations = 0;
  int64_t second_convolutions = 0;
};

Outcome Train(const std::string& device, int threads, double share) {
  SessionOptions options;
  options.device = device;
  options.compile.threads = threads;
  options.compile.recompute_share = share;
  Diagnostics diagnostics;
  const ModelSpec model = ModelOf(kModel);
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  Outcome outcome;
  outcome.arena_bytes = session.layout()->arena_bytes;
  const auto& instructions = session.program()->image().entries[0].instructions;
  outcome.recomputations =
      std::count_if(instructions.begin(), instructions.end(),
                    [](const ImageInstruction& i) { return i.name.ends_with(".again"); });
  outcome.second_convolutions =
      std::count_if(instructions.begin(), instructions.end(), [](const ImageInstruction& i) {
        return i.name.ends_with(".again") && i.node.op == OpId::conv;
      });
  RunObserver silent;
  outcome.weights_hash = session.Train("", silent).weights_hash;
  return outcome;
}

TEST(Recompute, LowersTheArenaAndChangesNoBit) {
  for (const char* device : {"reference", "blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (int threads : {1, 2}) {
      const Outcome kept = Train(device, threads, 0);
      const Outcome some = Train(device, threads, 0.02);
      const Outcome most = Train(device, threads, 1);
      const std::string name = device + (", " + std::to_string(threads));
      EXPECT_EQ(kept.recomputations, 0) << name;
      EXPECT_GT(most.recomputations, 3) << name;
      EXPECT_GT(most.second_convolutions, 0) << name;
      EXPECT_LT(most.arena_bytes, kept.arena_bytes * 9 / 10) << name;
      EXPECT_LE(most.arena_bytes, some.arena_bytes) << name;
      EXPECT_LE(some.arena_bytes, kept.arena_bytes) << name;
      EXPECT_EQ(some.weights_hash, kept.weights_hash) << name;
      EXPECT_EQ(most.weights_hash, kept.weights_hash) << name;
    }
  }
}

}  // namespace
}  // namespace cgrun
