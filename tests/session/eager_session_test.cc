// Compares whole runs in eager mode with runs in graph mode. Weights, losses and checkpoints are
// the same to the bit.
#include <gtest/gtest.h>

#include "src/base/diagnostics.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

SessionOptions Options(Mode mode, const std::string& device = "reference") {
  SessionOptions options;
  options.mode = mode;
  options.device = device;
  options.compile.passes.disabled = {"fuse_activations"};
  return options;
}

void ExpectSameMeans(const PassResult& eager, const PassResult& graph) {
  ASSERT_EQ(eager.means.size(), graph.means.size());
  EXPECT_EQ(eager.samples, graph.samples);
  for (size_t i = 0; i < graph.means.size(); ++i) {
    EXPECT_EQ(eager.means[i].name, graph.means[i].name);
    EXPECT_EQ(eager.means[i].value, graph.means[i].value) << graph.means[i].name;
  }
}

void ExpectSameRuns(const ModelSpec& model, const std::string& device) {
  const std::string folder = FreshFolder();
  const TrainResult graph = TrainModel(model, Options(Mode::kGraph, device), folder);
  const std::string checkpoint = ReadText(graph.checkpoint);
  const TrainResult eager = TrainModel(model, Options(Mode::kEager, device), folder);
  EXPECT_EQ(eager.weights_hash, graph.weights_hash) << device;
  EXPECT_EQ(ReadText(eager.checkpoint), checkpoint) << device;
  ExpectSameMeans(eager.last.train, graph.last.train);
  ASSERT_EQ(eager.last.evaluations.size(), graph.last.evaluations.size());
  for (size_t i = 0; i < graph.last.evaluations.size(); ++i) {
    ExpectSameMeans(eager.last.evaluations[i], graph.last.evaluations[i]);
  }
}

// A run has two epochs of ten batches of 100 and one of 65. An evaluation with a batch of 30
// follows each.
TEST(EagerSession, PartialBatchesAndEvaluationsGiveTheBitsOfGraphMode) {
  for (const char* device : {"reference", "blas"}) {
    ExpectSameRuns(SmallModel({"data.valid={split: 0.2}"}), device);
  }
}

TEST(EagerSession, AdamAndDoublePrecisionDo) {
  ExpectSameRuns(SmallModel({"train.optimizer={op: adam, lr: 0.01}", "train.steps=12"}), "blas");
  ExpectSameRuns(SmallModel({"train.precision=f64", "train.steps=12"}), "reference");
}

// Two paths that learn what they share, each by its own optimizer; the second sees what the first
// has changed.
constexpr char kPaths[] = R"(
cgrun: 1
model: paths
data:
  train: {format: synthetic, samples: 65, classes: 3}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  trunk:
    in: x
    ops:
      - {op: linear, units: 6}
      - batch_norm
      - tanh
paths:
  preprocess:
    mode: forward
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - flat: flatten
  first:
    ops:
      - {network: trunk, in: flat}
      - a: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [a, label]}
    optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
  second:
    ops:
      - {network: trunk, in: flat}
      - b: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [b, label]}
    optimizer: {op: adam, lr: 0.01}
train: {epochs: 3, batch: 20, optimizer: {op: sgd, lr: 0.05}}
)";

TEST(EagerSession, PathsWithOptimizersOfTheirOwnDo) {
  ExpectSameRuns(ModelOf(kPaths), "reference");
}

TEST(EagerSession, WeightsOfOneModeAreReadInTheOther) {
  const ModelSpec model = SmallModel({"train.steps=12"});
  const TrainResult trained = TrainModel(model, Options(Mode::kEager), FreshFolder());
  std::vector<PassResult> results;
  for (Mode mode : {Mode::kGraph, Mode::kEager}) {
    SessionOptions options = Options(mode);
    options.weights = trained.checkpoint;
    Diagnostics diagnostics;
    Session session(model, options, /*train=*/false, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    EXPECT_EQ(session.engine().StateHash(), trained.weights_hash);
    EXPECT_TRUE(session.weights().missing.empty());
    RunObserver silent;
    results.push_back(session.Evaluate("test", silent));
  }
  ExpectSameMeans(results[1], results[0]);
  ExpectSameMeans(results[0], trained.last.evaluations[0]);
}

TEST(EagerSession, MemoryIsMeasuredAndNotPlanned) {
  const ModelSpec model = SmallModel({"train.steps=12"});
  const MemoryUse graph = TrainModel(model, Options(Mode::kGraph)).memory;
  const MemoryUse eager = TrainModel(model, Options(Mode::kEager)).memory;
  EXPECT_TRUE(graph.has_plan());
  EXPECT_EQ(graph.engine.live_peak_bytes, graph.arena);
  EXPECT_EQ(graph.engine.system_requests, 1);
  EXPECT_FALSE(eager.has_plan());
  EXPECT_GT(eager.engine.live_peak_bytes, graph.arena) << "what the plan is worth";
  EXPECT_GE(eager.engine.reserved_peak_bytes, eager.engine.live_peak_bytes);
  EXPECT_GT(eager.engine.requests, 12 * 20);
  EXPECT_LT(eager.engine.system_requests, 12);
}

TEST(EagerSession, MistakesAreReportedAsInGraphMode) {
  const ModelSpec model = SmallModel({"paths.classify.ops.logits.units=0"});
  Diagnostics diagnostics;
  const Session session(model, Options(Mode::kEager), true, diagnostics);
  EXPECT_FALSE(session.ready());
  EXPECT_EQ(diagnostics.ToString(), SessionErrors(model));
}

}  // namespace
}  // namespace cgrun
