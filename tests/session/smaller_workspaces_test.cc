// Kernels that work alone under a cap: they take less memory, and give the bits of their team.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <memory>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/kernels/kernel.h"
#include "src/program/code.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Convolutions in front of pools, in groups, with padding and without, linear layers whose updates
// are made by the product, and batches that give some threads of a team nothing to do.
constexpr char kModel[] = R"(
cgrun: 1
model: workspaces
data:
  train: {format: synthetic, samples: 22, classes: 5}
inputs:
  image: {type: uint8, shape: [3, 24, 24]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 20, kernel: 5, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: conv, filters: 48, kernel: 5, padding: 1, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: conv, filters: 8, kernel: 3, padding: 1, groups: 2, activation: relu}
      - {op: flatten}
      - {op: linear, units: 96, activation: relu}
      - logits: {op: linear, units: 5}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 2, batch: 12, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

struct Setting {
  std::string device;
  int threads = 1;
  DType precision = DType::kF32;
  int64_t cap = 0;  // bytes of the arena; 0: none
  std::vector<std::string> disabled;
};

constexpr int64_t kSmallest = 1;  // no plan reaches it: each takes as little as it can

struct Outcome {
  uint64_t weights_hash = 0;
  int64_t arena_bytes = 0;
  int64_t alone = 0;     // instructions on one thread, in no stream
  int64_t for_team = 0;  // of these those with the sums of a team
  ProgramImage image;
};

Outcome Train(const Setting& setting) {
  SessionOptions options;
  options.device = setting.device;
  options.compile.threads = setting.threads;
  options.compile.precision = setting.precision;
  options.compile.arena_cap = setting.cap;
  options.compile.passes.disabled = setting.disabled;
  Diagnostics diagnostics;
  const ModelSpec model = ModelOf(kModel);
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  Outcome outcome;
  outcome.arena_bytes = session.layout()->arena_bytes;
  outcome.image = session.program()->image();
  for (const ImageInstruction& i : outcome.image.entries[0].instructions) {
    outcome.alone += i.threads == 1 && i.stream == 0;
    outcome.for_team += i.thread_team > 0;
  }
  RunObserver silent;
  outcome.weights_hash = session.Train("", silent).weights_hash;
  return outcome;
}

std::vector<std::string> Devices() {
  std::vector<std::string> devices = {"blas", "cpu"};
  std::erase_if(devices, [](const std::string& device) {
    const bool is_missing = FindKernelLibrary(device) == nullptr;
    if (is_missing) std::cout << "not on '" << device << "': it is not in this build\n";
    return is_missing;
  });
  return devices;
}

TEST(SmallerWorkspaces, TakeLessAndChangeNoBit) {
  for (const std::string& device : Devices()) {
    for (int threads : {2, 5, 16}) {
      SCOPED_TRACE(device + ", " + std::to_string(threads));
      const auto train = [&](int64_t cap, std::vector<std::string> disabled) {
        return Train({device, threads, DType::kF32, cap, std::move(disabled)});
      };
      const Outcome free = train(0, {"lanes"});
      const Outcome less = train(kSmallest, {"lanes"});
      const Outcome without = train(kSmallest, {"lanes", "smaller_workspaces"});
      EXPECT_EQ(free.alone, 0);
      EXPECT_EQ(without.alone, 0);
      EXPECT_GT(less.alone, 0);
      EXPECT_GT(less.for_team, 0);
      EXPECT_LT(less.arena_bytes, without.arena_bytes);
      EXPECT_LE(without.arena_bytes, free.arena_bytes);
      EXPECT_EQ(less.weights_hash, free.weights_hash);
      EXPECT_EQ(without.weights_hash, free.weights_hash);
      EXPECT_EQ(train(kSmallest, {}).weights_hash, free.weights_hash) << "beside lanes";
    }
  }
}

TEST(SmallerWorkspaces, NeedNothingElse) {
  for (const std::string& device : Devices()) {
    const std::vector<std::string> disabled = {"lanes", "rematerialise"};
    const Outcome free = Train({device, 16, DType::kF32, 0, disabled});
    const Outcome less = Train({device, 16, DType::kF32, kSmallest, disabled});
    EXPECT_GT(less.alone, 0) << device;
    EXPECT_LT(less.arena_bytes, free.arena_bytes) << device;
    EXPECT_EQ(less.weights_hash, free.weights_hash) << device;
  }
}

// With bf16, some kernels of f32 read and write copies.
TEST(SmallerWorkspaces, ChangeNoBitInBf16) {
  for (const std::string& device : Devices()) {
    for (int threads : {5, 16}) {
      const Outcome free = Train({device, threads, DType::kBF16, 0, {}});
      const Outcome less = Train({device, threads, DType::kBF16, kSmallest, {}});
      EXPECT_EQ(less.weights_hash, free.weights_hash) << device << ", " << threads;
      if (device != "blas") continue;
      int64_t widened = 0;
      for (const ImageInstruction& i : less.image.entries[0].instructions) {
        widened += i.thread_team > 0 && i.kernel.ends_with(".widened");
      }
      EXPECT_GT(widened, 0) << threads;
    }
  }
}

// A program says whose sums it wants, and its workspace is for that.
TEST(SmallerWorkspaces, AreRefusedForOtherTeams) {
  const KernelLibrary& library = *FindKernelLibrary("blas");
  const Outcome less = Train({"blas", 16, DType::kF32, kSmallest, {}});
  const std::unique_ptr<Device> device = OpenDevice("blas");
  int refused = 0;
  for (size_t i = 0; i < less.image.entries[0].instructions.size(); ++i) {
    if (less.image.entries[0].instructions[i].thread_team == 0) continue;
    for (const auto& [threads, team, stream] : {std::array{1, 0, 0}, {2, 16, 0}, {1, 16, 1}}) {
      ProgramImage changed = less.image;
      ImageInstruction& instruction = changed.entries[0].instructions[i];
      instruction.threads = threads;
      instruction.thread_team = team;
      instruction.stream = stream;
      EXPECT_THROW(Code(changed, *device, library), InputError)
          << instruction.name << " on " << threads << " for " << team << " in stream " << stream;
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace cgrun
