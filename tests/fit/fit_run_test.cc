// Runs under a cap: what is planned ahead changes no answer, and says nothing where a run may fit.
#include "src/fit/fit_run.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tests/session/session_testing.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

// Layers whose results the backward pass wants, and most of all of them at once.
constexpr char kModel[] = R"(
cgrun: 1
model: layers
data:
  train: {format: synthetic, samples: 16, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 16, 16]}
  label: {type: int32, shape: []}
blocks:
  layer:
    in: x
    ops:
      - {op: conv, in: x, filters: 8, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {block: layer, repeat: 6}
      - global_avg_pool
      - flatten
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {steps: 2, batch: 16, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";
// As it would be measured, which differs a little from one process to the next.
constexpr int64_t kBase = int64_t{8} << 20;

// All that a refusal, or a run that fits, is told from.
struct Answer {
  PlannedRun free;
  CappedRun quick, fit;
};

class FitRunTest : public testing::Test {
 protected:
  Answer FitUnder(int64_t cap) const {
    RunPlanner planner(model_, *FindKernelLibrary("reference"), options_);
    Diagnostics diagnostics;
    Answer answer;
    const auto free = PlanFreeRun(planner, options_, cap, kBase, diagnostics);
    const auto quick = FitRunQuickly(planner, options_, cap, free.value(), kBase, diagnostics);
    const auto fit = FitRun(planner, options_, quick.value(), kBase, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    answer.free = *free;
    answer.quick = *quick;
    answer.fit = fit.value();
    return answer;
  }

  // Returns the cap that leaves the arena this share of its free size.
  int64_t CapFor(double share) const {
    const PlannedRun free = FitUnder(int64_t{1} << 40).free;
    const auto arena = static_cast<double>(free.memory.arena);
    return free.total() - free.memory.arena + static_cast<int64_t>(share * arena);
  }

  const ModelSpec model_ = ModelOf(kModel);
  const CompileOptions options_;
};

// Without what is measured of the process, which has more threads where nothing is done in
// children.
std::string TextOf(PlannedRun run) {
  run.memory.beside = {};
  return ToText(run);
}

void ExpectSame(const CappedRun& with, const CappedRun& without) {
  EXPECT_EQ(with.out_of_reach, without.out_of_reach);
  EXPECT_EQ(TextOf(with.free), TextOf(without.free));
  EXPECT_EQ(TextOf(with.capped), TextOf(without.capped));
  EXPECT_EQ(with.arena_cap, without.arena_cap);
  EXPECT_EQ(with.effort, without.effort);
}

TEST_F(FitRunTest, FitsByRecomputationOrIsRefused) {
  int refused = 0, recomputed = 0;
  for (const double share : {0.9, 0.7, 0.5, 0.4, 0.2}) {
    const Answer answer = FitUnder(CapFor(share));
    refused += !answer.fit.fits();
    recomputed +=
        answer.fit.fits() && answer.fit.capped.recomputations > answer.free.recomputations;
  }
  EXPECT_GE(refused, 2);
  EXPECT_GE(recomputed, 2);
}

TEST_F(FitRunTest, ARunThatJustFitsIsLeftAsItIs) {
  const Answer all = FitUnder(int64_t{1} << 40), just = FitUnder(all.free.total());
  EXPECT_TRUE(just.fit.fits());
  EXPECT_EQ(just.fit.arena_cap, 0);
  EXPECT_EQ(TextOf(just.fit.capped), TextOf(all.free));
}

// Plans are made for a fixed series of arena caps. So a cap just above another one has the same
// plan.
TEST_F(FitRunTest, SmallerCapsHaveNoLargerArenasAndNoShorterSteps) {
  const PlannedRun free = FitUnder(int64_t{1} << 40).free;
  int64_t arena = free.memory.arena;
  double slower = 0;
  std::set<int64_t> caps;
  for (int percent = 98; percent >= 50; percent -= kSanitized ? 6 : 2) {
    SCOPED_TRACE(percent);
    const CappedRun fit = FitUnder(CapFor(percent / 100.0)).fit;
    if (!fit.fits()) break;
    EXPECT_LE(fit.capped.memory.arena, arena);
    EXPECT_GE(fit.slower(), slower - 1e-9);
    arena = fit.capped.memory.arena;
    slower = fit.slower();
    if (fit.effort == PlanEffort::kFull) caps.insert(fit.arena_cap);
  }
  EXPECT_GE(caps.size(), 3u);
  const int64_t cap = CapFor(0.7);
  EXPECT_EQ(FitUnder(cap).fit.arena_cap, FitUnder(cap + 1).fit.arena_cap);
}

// Beside another thread there is no child.
TEST_F(FitRunTest, AnswersAreTheSameWithoutChildren) {
  const int64_t cap = CapFor(0.2);
  const Answer with = FitUnder(cap);
  std::mutex mutex;
  std::condition_variable condition;
  bool ends = false;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return ends; });
  });
  const Answer without = FitUnder(cap);
  {
    const std::lock_guard lock(mutex);
    ends = true;
  }
  condition.notify_one();
  other.join();
  ExpectSame(without.quick, with.quick);
  ExpectSame(without.fit, with.fit);
}

}  // namespace
}  // namespace cgrun
