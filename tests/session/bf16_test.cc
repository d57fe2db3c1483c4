// Runs with activations in bf16: their bits do not depend on mode, order, planner or resume, they
// learn what runs in f32 learn, and the two exchange weights.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/lint/bf16_speed.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kImages[] = R"(
cgrun: 1
model: images
data:
  train: {format: synthetic, samples: 250, classes: 4}
  test: {format: synthetic, samples: 90, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 8, 8]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 16, kernel: 3, padding: 1}
      - {op: batch_norm, activation: relu}
      - skipped: {op: max_pool, kernel: 2}
      - again: {op: conv, filters: 16, kernel: 3, padding: 1, activation: relu}
      - {op: add, in: [again, skipped]}
      - global_avg_pool
      - flatten
      - {op: dropout, rate: 0.1}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 2, batch: 60, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

SessionOptions Options(const std::string& device, bool bf16 = true) {
  SessionOptions options;
  options.device = device;
  options.compile.bf16_activations = bf16;
  return options;
}

const std::vector<std::string> kDevices = {"reference", "blas", "cpu"};

bool IsBuilt(const std::string& device) { return FindKernelLibrary(device) != nullptr; }

TEST(BF16, LearnsWhatF32Learns) {
  for (const std::string& device : kDevices) {
    if (!IsBuilt(device)) continue;
    const ModelSpec model = ModelOf(kImages, {"train.epochs=6"});
    const TrainResult wide = TrainModel(model, Options(device, false));
    const TrainResult narrow = TrainModel(model, Options(device));
    EXPECT_NE(narrow.weights_hash, wide.weights_hash) << device;
    const double wide_loss = wide.last.train.means[0].value;
    const double narrow_loss = narrow.last.train.means[0].value;
    EXPECT_NEAR(narrow_loss, wide_loss, 0.05 * wide_loss + 0.02) << device;
  }
}

TEST(BF16, BitsDoNotDependOnOrderOrPlannerOrZones) {
  for (const std::string& device : kDevices) {
    if (!IsBuilt(device)) continue;
    const uint64_t expected = TrainModel(ModelOf(kImages), Options(device)).weights_hash;
    for (const char* order : {"serial", "bfs"}) {
      SessionOptions options = Options(device);
      options.compile.order = order;
      options.compile.layout.planner = "naive";
      EXPECT_EQ(TrainModel(ModelOf(kImages), options).weights_hash, expected) << device << order;
    }
    SessionOptions apart = Options(device);
    apart.compile.layout.zones_apart = true;
    EXPECT_EQ(TrainModel(ModelOf(kImages), apart).weights_hash, expected) << device;
  }
}

TEST(BF16, EagerModeGivesTheBitsOfGraphMode) {
  for (const std::string& device : kDevices) {
    if (!IsBuilt(device)) continue;
    SessionOptions options = Options(device);
    options.compile.passes.disabled = {"fuse_activations", "layouts", "clip_in_batch_norm"};
    const TrainResult graph = TrainModel(ModelOf(kImages), options);
    options.mode = Mode::kEager;
    const TrainResult eager = TrainModel(ModelOf(kImages), options);
    EXPECT_EQ(eager.weights_hash, graph.weights_hash) << device;
    EXPECT_EQ(eager.last.train.means[0].value, graph.last.train.means[0].value) << device;
  }
}

TEST(BF16, PassesChangeNoBit) {
  for (const std::string& device : kDevices) {
    if (!IsBuilt(device)) continue;
    SessionOptions options = Options(device);
    options.compile.passes.disabled = {"layouts"};  // this pass chooses the order of sums
    const uint64_t expected = TrainModel(ModelOf(kImages), options).weights_hash;
    for (const char* pass : {"clip_in_batch_norm", "common_subexpressions", "fuse_activations",
                             "algebra", "rematerialise"}) {
      options.compile.passes.disabled = {"layouts", pass};
      EXPECT_EQ(TrainModel(ModelOf(kImages), options).weights_hash, expected) << device << pass;
    }
  }
}

TEST(BF16, IsResumedToTheBit) {
  const std::string device = IsBuilt("cpu") ? "cpu" : "blas";
  const std::string folder = FreshFolder();
  const ModelSpec whole = ModelOf(kImages, {"train.epochs=3"});
  const uint64_t expected = TrainModel(whole, Options(device)).weights_hash;
  SessionOptions options = Options(device);
  options.checkpoint = TrainModel(ModelOf(kImages, {"train.epochs=1"}), options, folder).checkpoint;
  EXPECT_EQ(TrainModel(whole, options).weights_hash, expected);
}

// States are f32 in both.
TEST(BF16, WeightsGoFromOnePrecisionToTheOther) {
  const std::string folder = FreshFolder();
  const ModelSpec model = ModelOf(kImages);
  const TrainResult trained = TrainModel(model, Options("blas"), folder);
  for (bool bf16 : {false, true}) {
    SessionOptions options = Options("blas", bf16);
    options.weights = trained.checkpoint;
    Diagnostics diagnostics;
    Session session(model, options, /*train=*/false, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    EXPECT_EQ(session.engine().StateHash(), trained.weights_hash);
    RunObserver silent;
    const PassResult result = session.Evaluate("test", silent);
    const PassResult& before = trained.last.evaluations[0];
    EXPECT_EQ(result.means[0].value == before.means[0].value, bf16);
    EXPECT_NEAR(result.means[0].value, before.means[0].value, 0.02);
  }
}

TEST(BF16, TakesLittleMoreThanHalfOfTheMemory) {
  const ModelSpec model = ModelOf(kImages);
  const int64_t wide = TrainModel(model, Options("reference", false)).memory.arena;
  const int64_t narrow = TrainModel(model, Options("reference")).memory.arena;
  EXPECT_LT(narrow, 0.75 * static_cast<double>(wide));
  EXPECT_GT(narrow, 0.4 * static_cast<double>(wide));
}

// OpenBLAS has products of f32 alone; plain loops take any number type as it is.
TEST(BF16, DevicesThatDoNotMultiplyItAreWarnedOf) {
  EXPECT_FALSE(MultipliesBF16(*FindKernelLibrary("blas")));
  EXPECT_TRUE(MultipliesBF16(*FindKernelLibrary("reference")));
  const auto count = [](const char* device, const char* precision) {
    Diagnostics diagnostics;
    ModelSpec model;
    model.train.emplace();
    model.train->precision.value = precision;
    WarnOfSlowBF16(model, *FindKernelLibrary(device), diagnostics);
    EXPECT_FALSE(diagnostics.has_errors());
    return diagnostics.Sorted().size();
  };
  EXPECT_EQ(count("blas", "bf16"), 1u);
  EXPECT_EQ(count("blas", "f32"), 0u);
  EXPECT_EQ(count("reference", "bf16"), 0u);
}

}  // namespace
}  // namespace cgrun
