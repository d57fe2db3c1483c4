// Swaps values to a file under a cap. On every device of the host, this lowers the arena and
// changes no bit of the weights. A disk that fails ends the run.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <iostream>

#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Each layer's result is wanted by the backward pass.
constexpr char kModel[] = R"(
cgrun: 1
model: layers
data:
  train: {format: synthetic, samples: 24, classes: 4}
  test: {format: synthetic, samples: 12, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [3, 16, 16]}
  label: {type: int32, shape: []}
blocks:
  layer:
    in: x
    ops:
      - {op: conv, in: x, filters: 16, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {block: layer, repeat: 5}
      - {op: global_avg_pool}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 8, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

SessionOptions OptionsOf(const std::string& device, int threads, int64_t arena_cap) {
  SessionOptions options;
  options.device = device;
  options.compile.threads = threads;
  options.compile.recompute_share = 0;
  options.compile.arena_cap = arena_cap;
  options.compile.passes.disabled = {"rematerialise"};  // swaps alone
  options.compile.swap = SwapFolder{FreshFolder(), {2e9, 2e9}};
  return options;
}

struct Outcome {
  uint64_t weights_hash = 0;
  int64_t arena_bytes = 0;
  int64_t file_bytes = 0;
  int64_t swaps = 0;
  std::optional<int64_t> allocations;
};

Outcome Train(const SessionOptions& options) {
  Diagnostics diagnostics;
  const ModelSpec model = ModelOf(kModel);
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  Outcome outcome;
  outcome.arena_bytes = session.layout()->arena_bytes;
  outcome.file_bytes = session.layout()->file_bytes;
  outcome.swaps =
      std::ranges::count(session.layout()->buffers, ArenaKind::kFile, &PlacedBuffer::arena);
  RunObserver silent;
  const TrainResult result = session.Train("", silent);
  outcome.weights_hash = result.weights_hash;
  outcome.allocations = result.allocations_after_first_step;
  return outcome;
}

TEST(Swap, LowersTheArenaAndChangesNoBit) {
  for (const char* device : {"reference", "blas", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    for (int threads : {1, 2}) {
      const Outcome kept = Train(OptionsOf(device, threads, 0));
      const Outcome some = Train(OptionsOf(device, threads, kept.arena_bytes * 8 / 10));
      const Outcome most = Train(OptionsOf(device, threads, 1));
      const std::string name = device + (", " + std::to_string(threads));
      EXPECT_EQ(kept.swaps, 0) << name;
      EXPECT_GT(some.swaps, 0) << name;
      EXPECT_GT(most.swaps, some.swaps) << name;
      EXPECT_GT(most.file_bytes, some.file_bytes) << name;
      EXPECT_LE(some.arena_bytes, kept.arena_bytes * 8 / 10) << name;
      EXPECT_LT(most.arena_bytes, some.arena_bytes) << name;
      EXPECT_EQ(some.weights_hash, kept.weights_hash) << name;
      EXPECT_EQ(most.weights_hash, kept.weights_hash) << name;
      if (most.allocations) {
        EXPECT_EQ(*most.allocations, 0) << name;
      }
    }
  }
}

// If recomputing is all that a cap needs, and takes less time, nothing is swapped.
TEST(Swap, IsNotUsedWhereComputingAgainIsCheaper) {
  SessionOptions options = OptionsOf("reference", 1, 0);
  const Outcome kept = Train(options);
  options.compile.passes.disabled.clear();
  options.compile.arena_cap = kept.arena_bytes * 9 / 10;
  options.compile.swap->speed = {1e5, 1e5};
  const Outcome slow_disk = Train(options);
  EXPECT_EQ(slow_disk.swaps, 0);
  EXPECT_LE(slow_disk.arena_bytes, options.compile.arena_cap);
  EXPECT_EQ(slow_disk.weights_hash, kept.weights_hash);
}

TEST(Swap, EndsTheRunWhereTheDiskFails) {
  const Outcome kept = Train(OptionsOf("reference", 1, 0));
  Diagnostics diagnostics;
  const ModelSpec model = ModelOf(kModel);
  Session session(model, OptionsOf("reference", 1, kept.arena_bytes * 8 / 10), true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  ASSERT_GT(session.layout()->file_bytes, 0);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_FSIZE, &none);
  std::string message;
  try {
    RunObserver silent;
    session.Train("", silent);
  } catch (const UserError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(message.find("cannot write to the swap file"), std::string::npos) << message;
}

}  // namespace
}  // namespace cgrun
