// The plan of a run's memory against what the run takes.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"
#include "src/fit/run_shape.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// 2 MiB of weights: an error that grows with them would be seen.
constexpr char kModel[] = R"(
cgrun: 1
model: wide
data:
  train: {format: synthetic, samples: 3000, classes: 4}
  test: {format: synthetic, samples: 500, classes: 4}
inputs:
  image: {type: uint8, shape: [784]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: linear, units: 640, activation: relu}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {steps: 3, batch: 500, optimizer: {op: adam, lr: 0.01}}
)";

void ExpectAgreement(const MemoryUse& memory) {
  EXPECT_GT(memory.arena, 2 * kMiB);
  EXPECT_LE(std::abs(memory.measured - memory.planned()), std::max(kMiB, memory.planned() / 100))
      << "planned " << memory.planned() << " (arena " << memory.arena << ", data " << memory.data
      << ", base " << memory.base << "), measured " << memory.measured;
}

TEST(Memory, WhatIsPlannedIsWhatIsTaken) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  const ModelSpec model = ModelOf(kModel);
  const std::string folder = FreshFolder();
  ForgetPeak();
  const TrainResult result = TrainModel(model, {}, folder);
  ExpectAgreement(result.memory);

  ForgetPeak();

  SessionOptions options;
  options.weights = result.checkpoint;
  Diagnostics diagnostics;
  Session session(model, options, false, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  session.Evaluate("test", silent);
  ExpectAgreement(session.memory());
}

// The arena is there, the loaders' buffers and copies for checkpoints are not: they must be free.
TEST(Memory, ARunThatFitsByItsArenaAloneIsRefused) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  const ModelSpec model = ModelOf(kModel);
  const auto planned = [&](int64_t free) {
    SessionOptions options;
    options.limits = HostLimits{};
    options.limits->machine = ReadProcessMemory().anonymous + free;
    Diagnostics diagnostics;
    const Session session(model, options, true, diagnostics);
    EXPECT_TRUE(session.ready()) << diagnostics.ToString();
    return session.memory().planned();
  };
  const int64_t all = planned(int64_t{1} << 40);
  EXPECT_GT(planned(all), 0);  // none of it was taken before
  try {
    planned(0);
    FAIL() << "a run began that cannot have its memory";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("the free memory of"), std::string::npos)
        << error.what();
    EXPECT_NE(error.help().find("--batch N"), std::string::npos);
  }
}

TEST(Memory, TheBaseHoldsWhatIsInUseWithoutTheData) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  const int64_t before = MeasureBase(0);
  {
    const std::vector<char> data(static_cast<size_t>(64 * kMiB), 'x');
    EXPECT_NEAR(static_cast<double>(MeasureBase(64 * kMiB)), static_cast<double>(before), kMiB);
  }
  EXPECT_NEAR(static_cast<double>(MeasureBase(0)), static_cast<double>(before), kMiB);
}

}  // namespace
}  // namespace cgrun
