// The operator that made the first value that is not finite: in graph and eager mode, with the step
// and the line of the model file.
#include "src/run/find_non_finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/io/safetensors.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Returns the error of Train(); "" if it ends well.
std::string ErrorOf(const ModelSpec& model, Mode mode, SessionOptions options = {},
                    std::string* help = nullptr) {
  options.mode = mode;
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  try {
    session.Train("", silent);
  } catch (const UserError& error) {
    if (help != nullptr) *help = error.help();
    return error.what();
  }
  return "";
}

// Line 10 is the operator that is tried.
std::string ModelWith(const std::string& op, const std::string& data) {
  return R"(cgrun: 1
data: {train: )" +
         data + R"(}
inputs:
  x: {shape: [4]}
  y: {shape: [3]}
paths:
  learn:
    ops:
      - h: {op: linear, in: x, units: 3}
      - )" +
         op + R"(
      - z: {op: linear, units: 3, init: zeros}
    loss: {op: squared_error, in: [z, y]}
train: {epochs: 3, batch: 4, optimizer: {op: sgd, lr: 0.1}}
)";
}

constexpr char kRandom[] = "{format: synthetic, samples: 16}";

class FindNonFiniteTest : public testing::TestWithParam<Mode> {};

TEST_P(FindNonFiniteTest, ADivisionByZero) {
  std::string help;
  const std::string error =
      ErrorOf(ModelOf(ModelWith("q: {op: div, in: [h, 0]}", kRandom)), GetParam(), {}, &help);
  EXPECT_EQ(error,
            "small.yaml:10:17: learn.q made the first value that is not finite (infinite), in step "
            "1");
  EXPECT_NE(help.find("learning rate"), std::string::npos);
}

TEST_P(FindNonFiniteTest, ALogarithmOfANegativeNumber) {
  const ModelSpec model =
      ModelOf(ModelWith("q: {op: log, in: h}", kRandom), {"paths.learn.ops.h.init={constant: -1}"});
  EXPECT_EQ(ErrorOf(model, GetParam()),
            "small.yaml:10:17: learn.q made the first value that is not finite (NaN), in step 1");
}

// Graph mode makes one operator of a convolution, its activation and its pool.
TEST(FusedNonFiniteTest, NamesItsParts) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
data: {train: {format: synthetic, samples: 16}}
inputs:
  x: {shape: [4, 16, 16]}
  y: {shape: [3]}
paths:
  learn:
    ops:
      - c: {op: conv, in: x, filters: 16, kernel: 3, activation: relu, init: {constant: 3e38}}
      - p: {op: max_pool, kernel: 2}
      - {op: flatten}
      - z: {op: linear, units: 3}
    loss: {op: squared_error, in: [z, y]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.1}}
)");
  SessionOptions options;
  options.device = "blas";
  const std::string fused = ErrorOf(model, Mode::kGraph, options);
  EXPECT_NE(fused.find("learn.p (conv, relu, max_pool, fused) made the first value that is not "
                       "finite (infinite), in step 1"),
            std::string::npos)
      << fused;
  const std::string alone = ErrorOf(model, Mode::kEager, options);
  EXPECT_NE(alone.find("learn.c made the first value"), std::string::npos) << alone;
}

TEST_P(FindNonFiniteTest, AHugeLearningRate) {
  const ModelSpec model =
      ModelOf(ModelWith("q: relu", kRandom), {"train.optimizer.lr=1e30", "train.epochs=9"});
  const std::string error = ErrorOf(model, GetParam());
  EXPECT_TRUE(error.starts_with("small.yaml:")) << error;
  EXPECT_NE(error.find("made the first value that is not finite (infinite), in step 2"),
            std::string::npos)
      << error;
}

// The loss of the last step is finite, what its update leaves is not: that run did not go well.
TEST_P(FindNonFiniteTest, AStateThatIsRuinedReplacesNoCheckpoint) {
  const ModelSpec model = ModelOf(ModelWith("q: relu", "{format: synthetic, samples: 4}"),
                                  {"train.optimizer.lr=1e15", "train.epochs=2"});
  const std::string error = ErrorOf(model, GetParam());
  EXPECT_NE(error.find("made the first value that is not finite (infinite), in step 2"),
            std::string::npos)
      << error;
  const std::string folder = FreshFolder();
  SessionOptions options;
  options.mode = GetParam();
  EXPECT_THROW(TrainModel(model, options, folder), UserError);
  EXPECT_FALSE(ReadText(folder + "/checkpoint-1.safetensors").empty());
  EXPECT_TRUE(ReadText(folder + "/checkpoint-2.safetensors").empty());
}

// The steps before are done again as they were: dropout, shuffling, momentum, accumulation.
TEST_P(FindNonFiniteTest, ALateOverflowOfAccumulatedSteps) {
  for (const char* batch : {"train.batch=100", "train.batch=50"}) {
    const std::vector<std::string> overrides = {"train.optimizer={op: sgd, lr: 30, momentum: 0.99}",
                                                "train.epochs=200", batch, "train.accumulate=2"};
    const std::string error = ErrorOf(SmallModel(overrides), GetParam());
    EXPECT_TRUE(error.starts_with("small.yaml:")) << error;
    const size_t at = error.find("in step ");
    ASSERT_NE(at, std::string::npos) << error;
    EXPECT_GT(std::stoi(error.substr(at + 8)), 2) << error;
  }
}

TEST_P(FindNonFiniteTest, NanInWeights) {
  const std::string file = FreshFolder() + "/w.safetensors";
  SafetensorsWriter writer({{"learn.h.bias", DType::kF32, {3}}});
  const HostTensor bias = HostTensor::Of<float>({3}, {0, kNan, 0});
  const std::span<const std::byte> bytes = bias.bytes();
  writer.Write(file, {&bytes, 1});
  SessionOptions options;
  options.weights = file;
  EXPECT_EQ(ErrorOf(ModelOf(ModelWith("q: relu", kRandom)), GetParam(), options),
            "learn.h.bias was not finite before the first step");
}

TEST_P(FindNonFiniteTest, AnInfinityThatDoesNoHarmIsLeftAlone) {
  std::string text = ModelWith("q: {op: sigmoid, in: big}", kRandom);
  text.replace(text.find("      - q:"), 10, "      - big: {op: div, in: [x, 0]}\n      - q:");
  EXPECT_EQ(ErrorOf(ModelOf(text), GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(Modes, FindNonFiniteTest, testing::Values(Mode::kGraph, Mode::kEager),
                         [](const auto& mode) { return std::string(Name(mode.param)); });

}  // namespace
}  // namespace cgrun
