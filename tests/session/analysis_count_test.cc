// The graph is analysed once: before the first step, however many steps, evaluations and partial
// batches follow. The counter counts what compiles and plans, so that a second analysis would show.
#include "src/compile/analysis_count.h"

#include <gtest/gtest.h>

#include "src/fit/run_shape.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Steps take microseconds: 2,001 of an epoch, the last of which has one sample.
constexpr char kTiny[] = R"(
cgrun: 1
model: tiny
data:
  train: {format: synthetic, samples: 4001, classes: 2}
  valid: {format: synthetic, samples: 5, classes: 2, seed: 3}
  test: {format: synthetic, samples: 3, classes: 2, seed: 4}
inputs:
  image: {type: uint8, shape: [1, 1, 2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train:
  steps: 10000
  batch: 2
  eval_every: 500
  optimizer: {op: sgd, lr: 0.01}
)";

TEST(AnalysisCountTest, TenThousandStepsAnalyseTheGraphOnce) {
  const TrainResult result = TrainModel(ModelOf(kTiny));
  EXPECT_EQ(result.steps, 10'000);
  EXPECT_EQ(result.graph_analyses, 1);
}

TEST(AnalysisCountTest, EagerModePreparesItsGraphOnce) {
  SessionOptions options;
  options.mode = Mode::kEager;
  EXPECT_EQ(TrainModel(ModelOf(kTiny, {"train.steps=300"}), options).graph_analyses, 1);
}

TEST(AnalysisCountTest, AResumedRunCountsItsOwn) {
  const std::string folder = FreshFolder();
  const TrainResult first = TrainModel(ModelOf(kTiny, {"train.steps=30"}), {}, folder);
  SessionOptions options;
  options.checkpoint = first.checkpoint;
  const TrainResult second = TrainModel(ModelOf(kTiny, {"train.steps=60"}), options);
  EXPECT_EQ(second.resumed_step, 30);
  EXPECT_EQ(second.graph_analyses, 1);
}

TEST(AnalysisCountTest, ACompiledProgramIsNotAnalysedAgain) {
  const ModelSpec model = ModelOf(kTiny, {"train.steps=30"});
  Diagnostics diagnostics;
  const int64_t before = AnalysisCount();
  const auto compiled = Compile(model, ShapeOfRun(model, diagnostics).entries,
                                *FindKernelLibrary("reference"), {}, diagnostics);
  ASSERT_TRUE(compiled.has_value()) << diagnostics.ToString();
  EXPECT_EQ(AnalysisCount(), before + 1);
  SessionOptions options;
  options.image = &compiled->image;
  EXPECT_EQ(TrainModel(model, options).graph_analyses, 0);
}

TEST(AnalysisCountTest, EverySecondAnalysisCounts) {
  const ModelSpec model = ModelOf(kTiny, {"train.steps=2"});
  Diagnostics diagnostics;
  Session session(model, {}, /*train=*/true, diagnostics);
  ASSERT_TRUE(session.ready());
  const std::vector<EntryRequest> entries = {{"train", EntryKind::kTrain, 2}};
  for (int64_t more = 1; more <= 3; ++more) {
    Compile(model, entries, *FindKernelLibrary("reference"), {}, diagnostics);
    EXPECT_EQ(session.graph_analyses(), 1 + more);
  }
}

}  // namespace
}  // namespace cgrun
