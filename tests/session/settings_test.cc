// Settings of a model file that change what a session holds: frozen parameters, weights to begin
// with, initial values from files.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "src/frontend/frontend.h"
#include "src/io/npy_file.h"
#include "src/io/safetensors.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Line 10 is fc1.
constexpr char kModel[] = R"(cgrun: 1
data: {train: {format: synthetic, samples: 16}}
inputs:
  x: {shape: [64]}
  y: {shape: [3]}
paths:
  learn:
    ops:
      - h: {op: normalize, in: x, scale: 2}
      - fc1: {op: linear, units: 50, activation: tanh}
      - fc2: {op: linear, units: 3}
    loss: {op: squared_error, in: [fc2, y]}
train: {steps: 2, batch: 4, optimizer: {op: sgd, lr: 0.1, momentum: 0.9}}
)";

CompiledModel CompileWith(const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  auto compiled = Compile(ModelOf(kModel, overrides), {{"train", EntryKind::kTrain, 4}},
                          *FindKernelLibrary("reference"), {}, diagnostics);
  EXPECT_TRUE(compiled.has_value()) << diagnostics.ToString();
  return std::move(*compiled);
}

// Bytes of all gradients, of optimizer state, and values whose names begin so.
struct Use {
  int64_t gradient_bytes = 0;
  int64_t optimizer_bytes = 0;
  int64_t gradients_of_fc1 = 0;
};

Use UseOf(const CompiledModel& compiled) {
  Use use;
  const Graph& graph = compiled.entries[0].graph;
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    if (value.role == Role::kOptimizerState) use.optimizer_bytes += graph.BytesOf(id);
    if (value.role != Role::kGradient) continue;
    use.gradient_bytes += graph.BytesOf(id);
    use.gradients_of_fc1 += value.name.starts_with("learn.fc1");
  }
  return use;
}

constexpr char kNormed[] = R"(cgrun: 1
data: {train: {format: synthetic, samples: 17}}
inputs:
  x: {shape: [3, 4, 4]}
  y: {shape: [2]}
paths:
  learn:
    ops:
      - c: {op: conv, in: x, filters: 4, kernel: 3}
      - bn: {op: batch_norm}
      - {op: flatten}
      - fc: {op: linear, units: 2}
    loss: {op: squared_error, in: [fc, y]}
train: {steps: 3, batch: 4, optimizer: {op: sgd, lr: 0.1}}
)";

// Returns whether training moves a state away from where it begins.
bool Moves(const ModelSpec& model, const std::string& name) {
  SessionOptions options;
  Diagnostics diagnostics;
  Session session(model, options, /*train=*/true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  const size_t index = session.engine().model().FindState(name);
  const TensorType& type = session.engine().model().states[index].type;
  HostTensor before(type.dtype, type.shape), after(type.dtype, type.shape);
  session.engine().ReadState(index, before);
  RunObserver silent;
  session.Train("", silent);
  session.engine().ReadState(index, after);
  return !(before == after);
}

TEST(SettingsTest, AFrozenBatchNormKeepsItsRunningStatistics) {
  for (const char* state : {"learn.bn.running_mean", "learn.bn.running_var", "learn.bn.scale"}) {
    EXPECT_TRUE(Moves(ModelOf(kNormed), state)) << state;
    EXPECT_FALSE(Moves(ModelOf(kNormed, {"paths.learn.ops.bn.frozen=true"}), state)) << state;
  }
  const ModelSpec scale_alone = ModelOf(kNormed, {"paths.learn.ops.bn.frozen={scale: true}"});
  EXPECT_FALSE(Moves(scale_alone, "learn.bn.scale"));
  EXPECT_TRUE(Moves(scale_alone, "learn.bn.running_mean"));
  EXPECT_TRUE(Moves(ModelOf(kNormed, {"paths.learn.ops.bn.frozen=true"}), "learn.c.weight"));
}

// In f64, beside finite differences: the gradient flows through the running statistics as
// constants.
TEST(SettingsTest, AFrozenBatchNormIsTheSameInTrainingAndEvaluation) {
  Diagnostics diagnostics;
  const ModelSpec model = ModelOf(kNormed, {"paths.learn.ops.bn.frozen=true"});
  const auto training = BuildForward(model, {EntryKind::kTrain, DType::kF32}, diagnostics);
  const auto evaluation = BuildForward(model, {EntryKind::kEval, DType::kF32}, diagnostics);
  ASSERT_TRUE(training && evaluation) << diagnostics.ToString();
  const auto norm_of = [](const Graph& graph) {
    const auto found = std::ranges::find(graph.nodes, OpId::batch_norm, &Node::op);
    return found->attributes;
  };
  EXPECT_EQ(norm_of(*training), norm_of(*evaluation));
}

TEST(SettingsTest, FrozenParametersOwnNoGradientsAndNoOptimizerState) {
  const Use all = UseOf(CompileWith({}));
  const Use frozen = UseOf(CompileWith({"paths.learn.ops.fc1.frozen=true"}));
  constexpr int64_t kFc1 = (64 * 50 + 50) * 4;
  EXPECT_GT(all.gradients_of_fc1, 0);
  EXPECT_EQ(frozen.gradients_of_fc1, 0);
  EXPECT_EQ(all.optimizer_bytes - frozen.optimizer_bytes, kFc1);
  EXPECT_GE(all.gradient_bytes - frozen.gradient_bytes, kFc1);
}

TEST(SettingsTest, TheSumsOfAccumulationAreTheOnlyStateMore) {
  const std::vector<EntryRequest> entries = {{"train", EntryKind::kTrain, 4},
                                             {"accumulate", EntryKind::kAccumulate, 4}};
  Diagnostics diagnostics;
  const auto compiled = Compile(ModelOf(kModel, {"train.accumulate=2"}), entries,
                                *FindKernelLibrary("reference"), {}, diagnostics);
  ASSERT_TRUE(compiled.has_value()) << diagnostics.ToString();
  const Graph& adds = compiled->entries[1].graph;
  for (const Node& node : adds.nodes) EXPECT_NE(node.phase, Phase::kUpdate) << node.name;
  const int64_t sums = UseOf(*compiled).optimizer_bytes - UseOf(CompileWith({})).optimizer_bytes;
  EXPECT_EQ(sums, (64 * 50 + 50 + 50 * 3 + 3) * 4);
}

TEST(SettingsTest, WeightsOfTheModelFileAreThoseOfTheFlag) {
  const std::string file = FreshFolder() + "/w.safetensors";
  SafetensorsWriter writer({{"learn.fc2.bias", DType::kF32, {3}},
                            {"learn.fc1.bias", DType::kF32, {2}},
                            {"other", DType::kF32, {1}}});
  const HostTensor three = HostTensor::Of<float>({3}, {1, 2, 3});
  const HostTensor two = HostTensor::Of<float>({2}, {1, 2}), one = HostTensor::Of<float>({1}, {1});
  const std::vector<std::span<const std::byte>> bytes = {three.bytes(), two.bytes(), one.bytes()};
  writer.Write(file, bytes);
  const ModelSpec model = ModelOf(kModel, {"weights=" + file});
  Diagnostics diagnostics;
  SessionOptions options;
  Session session(model, options, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  EXPECT_EQ(session.weights_file(), std::filesystem::path(file).lexically_normal().string());
  EXPECT_EQ(session.weights().loaded, std::vector<std::string>{"learn.fc2.bias"});
  EXPECT_EQ(session.weights().mismatched.size(), 1u);
  EXPECT_EQ(session.weights().unused, std::vector<std::string>{"other"});
  EXPECT_EQ(session.weights().missing.size(), 2u);
  HostTensor bias(DType::kF32, {3});
  session.engine().ReadState(session.engine().model().FindState("learn.fc2.bias"), bias);
  EXPECT_EQ(bias, three);
}

TEST(SettingsTest, InitialValuesFromAFile) {
  const std::string folder = FreshFolder();
  std::vector<float> values(3 * 50);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const HostTensor weight = HostTensor::Of<float>({3, 50}, values);
  WriteNpy(folder + "/w.npy", weight);
  const std::string key = "paths.learn.ops.fc2.init=";
  for (Mode mode : {Mode::kGraph, Mode::kEager}) {
    const ModelSpec model = ModelOf(kModel, {key + "{file: " + folder + "/w.npy}"});
    SessionOptions options;
    options.mode = mode;
    Diagnostics diagnostics;
    Session session(model, options, true, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    HostTensor read(DType::kF32, {3, 50});
    session.engine().ReadState(session.engine().model().FindState("learn.fc2.weight"), read);
    EXPECT_EQ(read, weight);
  }
  const std::string wrong = "{weight: {file: {path: " + folder + "/w.npy}}}";
  const std::string error = SessionErrors(ModelOf(kModel, {"paths.learn.ops.fc1.init=" + wrong}));
  EXPECT_NE(error.find("holds f32[3, 50], the parameter is f32[50, 64]"), std::string::npos)
      << error;
  EXPECT_NE(SessionErrors(ModelOf(kModel, {key + "{file: none.npy}"})).find("none.npy"),
            std::string::npos);
  EXPECT_NE(SessionErrors(ModelOf(kModel, {key + "{file: {paht: x}}"})).find("did you mean 'path'"),
            std::string::npos);
  EXPECT_NE(SessionErrors(ModelOf(kModel, {key + "file"})).find("'file' needs a path"),
            std::string::npos);
}

}  // namespace
}  // namespace cgrun
