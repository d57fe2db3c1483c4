// Accumulation: which batches make a step and what they weigh; and steps of several batches against
// one large batch.
#include "src/run/accumulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "src/kernels/kernel.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

TEST(AccumulationTest, WithoutItAStepIsABatch) {
  const Accumulation accumulation(1, 1065, 100, 11);
  EXPECT_EQ(accumulation.steps_per_epoch(), 11);
  const StepPart part = accumulation.PartOf(10, 32), whole = StepPart::Whole(32);
  EXPECT_EQ(part.step, whole.step);
  EXPECT_EQ(part.batch, whole.batch);
  EXPECT_TRUE(part.updates && whole.updates);
  EXPECT_FALSE(part.goes_on || whole.goes_on);
  EXPECT_EQ(part.weight, 1);
}

TEST(AccumulationTest, TheLastStepOfAPassTakesWhatIsLeft) {
  const Accumulation accumulation(4, 1065, 100, 11);  // 400, 400, 265 samples
  EXPECT_EQ(accumulation.steps_per_epoch(), 3);
  EXPECT_FALSE(accumulation.PartOf(2, 7).updates);
  EXPECT_TRUE(accumulation.PartOf(3, 7).updates);
  EXPECT_EQ(accumulation.PartOf(3, 7).weight, 0.25);
  EXPECT_EQ(accumulation.PartOf(3, 7).batch, 31);
  EXPECT_EQ(accumulation.PartOf(8, 9).weight, 100.0 / 265);
  EXPECT_EQ(accumulation.PartOf(10, 9).weight, 65.0 / 265);
  EXPECT_TRUE(accumulation.PartOf(10, 9).updates);
}

// Walks a pass; checks that weights of a step add up to 1 and that numbers of batches grow.
void CheckPass(int64_t per_step, int64_t samples, int64_t batch, int64_t batches) {
  const Accumulation accumulation(per_step, samples, batch, batches);
  int64_t step = 5, last_number = -1;
  double weights = 0;
  for (int64_t i = 0; i < batches; ++i) {
    const StepPart part = accumulation.PartOf(i, step);
    ASSERT_EQ(part.goes_on, !accumulation.BeginsStep(i));
    ASSERT_GT(part.batch, last_number);
    last_number = part.batch;
    weights = part.goes_on ? weights + part.weight : part.weight;
    if (!part.updates) continue;
    ASSERT_NEAR(weights, 1, 1e-12);
    ++step;
  }
  ASSERT_EQ(step, 5 + accumulation.steps_per_epoch());
}

TEST(AccumulationTest, WeightsOfAStepAddUpToOneAndNumbersDiffer) {
  for (int64_t per_step = 1; per_step < 7; ++per_step) {
    for (int64_t batch : {1, 2, 7, 20}) {
      for (int64_t samples : {1, 6, 53, 141}) {
        const int64_t all = (samples + batch - 1) / batch;
        for (int64_t batches = 1; batches <= all; batches += 3) {
          CheckPass(per_step, samples, batch, batches);
        }
        CheckPass(per_step, samples, batch, all);
      }
    }
  }
}

constexpr char kRegression[] = R"(
cgrun: 1
data:
  train: {format: synthetic, samples: 53, seed: 3}
inputs:
  x: {type: f64, shape: [6]}
  y: {type: f64, shape: [2]}
paths:
  fit:
    ops:
      - {op: linear, in: x, units: 8, activation: tanh}
      - out: {op: linear, units: 2}
    loss: {op: squared_error, in: [out, y]}
train: {epochs: 3, batch: 20, seed: 4, precision: f64, optimizer: {op: adam, lr: 0.01}}
)";

std::vector<double> Weights(const std::vector<std::string>& overrides, Mode mode,
                            const std::string& device = "reference", int64_t* steps = nullptr) {
  const ModelSpec model = ModelOf(kRegression, overrides);
  SessionOptions options;
  options.mode = mode;
  options.device = device;
  options.compile.precision = DType::kF64;
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  RunObserver observer;
  const TrainResult result = session.Train("", observer);
  if (steps != nullptr) *steps = result.steps;
  std::vector<double> numbers;
  const auto& states = session.engine().model().states;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].role != Role::kParameter) continue;
    HostTensor tensor(states[i].type.dtype, states[i].type.shape);
    session.engine().ReadState(i, tensor);
    for (int64_t e = 0; e < tensor.elements(); ++e) numbers.push_back(tensor.At(e));
  }
  return numbers;
}

void ExpectNear(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

// 53 samples: large batches of 20, 20, 13; small ones of 5: 4 + 4 + (5, 5, 3).
class AccumulatedSteps : public testing::TestWithParam<std::tuple<Mode, std::string>> {};

TEST_P(AccumulatedSteps, AreOneLargeBatch) {
  const auto [mode, device] = GetParam();
  if (FindKernelLibrary(device) == nullptr)
    GTEST_SKIP() << "'" << device << "' is not in this build";
  for (const char* clip : {"train.clip=", "train.clip={norm: 0.05}", "train.clip={value: 0.01}"}) {
    int64_t large_steps = 0, small_steps = 0;
    const auto large = Weights({clip}, mode, device, &large_steps);
    const auto small =
        Weights({"train.batch=5", "train.accumulate=4", clip}, mode, device, &small_steps);
    EXPECT_EQ(large_steps, 9);
    EXPECT_EQ(small_steps, 9);
    ExpectNear(large, small, 1e-12);
    EXPECT_GT(std::abs(large[0] - Weights({"train.steps=1", clip}, mode, device)[0]), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, AccumulatedSteps,
                         testing::Combine(testing::Values(Mode::kGraph, Mode::kEager),
                                          testing::Values("reference", "cpu")));

TEST(AccumulationTest, GraphAndEagerModeAgreeBitForBit) {
  const std::vector<std::string> overrides = {"train.batch=5", "train.accumulate=4",
                                              "train.clip={norm: 0.05}"};
  EXPECT_EQ(Weights(overrides, Mode::kGraph), Weights(overrides, Mode::kEager));
}

TEST(AccumulationTest, AStepLargerThanThePassIsThePass) {
  ExpectNear(Weights({"train.batch=53"}, Mode::kGraph),
             Weights({"train.batch=7", "train.accumulate=100"}, Mode::kGraph), 1e-12);
}

TEST(AccumulationTest, SmallSetsNeedNoSecondEntryPoint) {
  ExpectNear(Weights({"train.batch=60"}, Mode::kGraph),
             Weights({"train.batch=60", "train.accumulate=3"}, Mode::kGraph), 0);
}

TEST(Accumulation, HasNoMoreBatchesInAStepThanInAPass) {
  const Accumulation all(std::numeric_limits<int64_t>::max(), 25, 10, 3);
  EXPECT_EQ(all.steps_per_epoch(), 1);
  EXPECT_FALSE(all.PartOf(1, 0).updates);
  EXPECT_TRUE(all.PartOf(2, 0).updates);
  EXPECT_EQ(all.PartOf(3, 1).batch, 3);
}

}  // namespace
}  // namespace cgrun
