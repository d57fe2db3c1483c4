// Learning-rate schedules against their formulas.
#include "src/run/rate_schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/model/model_file.h"
#include "src/run/checkpoint.h"

namespace cgrun {
namespace {

// The schedule of `text`, an optimizer's keys, with 10 steps an epoch and 100 in all.
RateSchedule Read(const std::string& text) {
  Diagnostics diagnostics;
  const std::string file =
      "cgrun: 1\nmodel: m\ninputs: {x: {type: f32, shape: [1]}}\npaths: {p: {mode: forward, ops: "
      "[{op: relu, in: "
      "x}]}}\n"
      "train: {epochs: 1, batch: 1, optimizer: {op: sgd, " +
      text + "}}\n";
  const auto model = ParseModel({"m.yaml", file}, {}, diagnostics);
  EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
  auto schedule = ReadRateSchedule(*model, *model->train->optimizer, 0.01, diagnostics);
  EXPECT_TRUE(schedule.has_value()) << diagnostics.ToString();
  schedule->steps_per_epoch = 10;
  schedule->total_steps = 100;
  return *schedule;
}

TEST(RateSchedule, IsConstantWithoutOne) {
  EXPECT_DOUBLE_EQ(Read("lr: 0.5").RateAt(0), 0.5);
  EXPECT_DOUBLE_EQ(Read("lr: 0.5").RateAt(99), 0.5);
  EXPECT_DOUBLE_EQ(Read("momentum: 0.9").RateAt(7), 0.01);
}

TEST(RateSchedule, WarmsUpLinearlyThenFollowsACosine) {
  const RateSchedule schedule = Read("lr: 1, schedule: {cosine: {warmup: 1}}");
  EXPECT_DOUBLE_EQ(schedule.RateAt(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.RateAt(9), 1.0);
  EXPECT_DOUBLE_EQ(schedule.RateAt(10), 1.0);
  EXPECT_NEAR(schedule.RateAt(55), 0.5, 1e-12);
  EXPECT_LT(schedule.RateAt(99), 0.001);
}

TEST(RateSchedule, StepsPolynomialsAndExponentials) {
  EXPECT_DOUBLE_EQ(Read("lr: 1, schedule: {step: {every: 2, factor: 0.5}}").RateAt(19), 1.0);
  EXPECT_DOUBLE_EQ(Read("lr: 1, schedule: {step: {every: 2, factor: 0.5}}").RateAt(45), 0.25);
  EXPECT_DOUBLE_EQ(Read("lr: 1, schedule: {polynomial: {power: 2}}").RateAt(50), 0.25);
  // Fractions of an epoch that are whole steps, as 0.4 of 5, drop the rate in time.
  for (const int64_t steps : {5, 10, 30, 365, 1000}) {
    for (int64_t period = 1; period <= 2 * steps; ++period) {
      RateSchedule schedule;
      schedule.kind = RateSchedule::Kind::kStep;
      schedule.learning_rate = 1;
      schedule.factor = 0.5;
      schedule.steps_per_epoch = steps;
      schedule.every_epochs = static_cast<double>(period) / static_cast<double>(steps);
      for (int64_t drops = 1; drops < 50; ++drops) {
        const double rate = std::pow(0.5, static_cast<double>(drops));
        EXPECT_EQ(schedule.RateAt(drops * period - 1), 2 * rate) << period << '/' << steps;
        EXPECT_EQ(schedule.RateAt(drops * period), rate) << period << '/' << steps;
      }
    }
  }
  EXPECT_NEAR(Read("lr: 1, schedule: {exponential: {factor: 0.5}}").RateAt(20), 0.25, 1e-12);
}

TEST(RateSchedule, RefusesWhatItDoesNotKnow) {
  Diagnostics diagnostics;
  const auto model = ParseModel(
      {"m.yaml",
       "cgrun: 1\nmodel: m\ninputs: {x: {type: f32, shape: [1]}}\n"
       "paths: {p: {mode: forward, ops: [{op: relu, in: x}]}}\n"
       "train: {epochs: 1, batch: 1, optimizer: {op: sgd, schedule: {cosinus: {warmup: 1}}}}\n"},
      {}, diagnostics);
  ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
  EXPECT_FALSE(ReadRateSchedule(*model, *model->train->optimizer, 0.01, diagnostics).has_value());
  EXPECT_NE(diagnostics.ToString().find("did you mean 'cosine'?"), std::string::npos);
}

TEST(RateSchedule, WarmsUpInSteps) {
  const RateSchedule schedule = Read("lr: 1, schedule: {cosine: {warmup_steps: 4}}");
  EXPECT_DOUBLE_EQ(schedule.RateAt(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.RateAt(3), 1.0);
  EXPECT_NEAR(schedule.RateAt(52), 0.5, 1e-12);
}

// The model has a loss, a metric and validation data.
constexpr char kWatched[] = R"(
cgrun: 1
data:
  train: {format: synthetic, samples: 40, classes: 3}
  valid: {split: 0.5}
inputs:
  x: {shape: [4]}
  label: {type: int32, shape: []}
paths:
  p:
    ops:
      - y: {op: linear, in: x, units: 3}
    loss: {op: softmax_cross_entropy, in: [y, label]}
    metrics: {accuracy: {in: [y, label]}, spread: {op: softmax_cross_entropy, in: [y, label]}}
train: {epochs: 6, batch: 5, optimizer: {op: sgd, lr: 1, schedule: )";

std::optional<RateSchedule> Plateau(const std::string& schedule, std::string* errors = nullptr,
                                    const std::vector<std::string>& overrides = {}) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"m.yaml", kWatched + schedule + "}}\n"}, overrides, diagnostics);
  EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
  const auto result = ReadRateSchedule(*model, *model->train->optimizer, 1, diagnostics);
  if (errors != nullptr) *errors = diagnostics.ToString();
  return result;
}

// These are the rates after each number of PyTorch 2.15's ReduceLROnPlateau(optimizer, factor=0.5,
// patience=1, threshold=0.1, min_lr=0.2), lr 1.
TEST(RateSchedule, FallsOnAPlateauAsInPyTorch) {
  const std::vector<double> losses = {1.0,  0.95, 0.85, 0.8, 0.79, 0.78, 0.6,
                                      0.58, 0.56, 0.55, 0.1, 0.1,  0.1,  0.1};
  const std::vector<double> rates = {1,   1,    1,    1,    0.5,  0.5, 0.5,
                                     0.5, 0.25, 0.25, 0.25, 0.25, 0.2, 0.2};
  auto schedule = Plateau("{plateau: {factor: 0.5, patience: 1, threshold: 0.1, min: 0.2}}");
  ASSERT_TRUE(schedule.has_value());
  for (size_t i = 0; i < losses.size(); ++i) {
    const auto step = static_cast<int64_t>(8 * (i + 1));
    schedule->Observe(step, losses[i]);
    EXPECT_DOUBLE_EQ(schedule->RateAt(step), rates[i]) << i;
    if (i == 0) continue;
    EXPECT_DOUBLE_EQ(schedule->RateAt(step - 1), rates[i - 1]) << i;
  }
}

// The threshold is a part of the size of the best number, whatever its sign.
TEST(RateSchedule, APlateauOfNegativeNumbers) {
  const std::string plateau = "{plateau: {factor: 0.5, patience: 0, threshold: 0.1";
  auto loss = Plateau(plateau + "}}");
  loss->Observe(1, -10);
  loss->Observe(2, -11.5);  // better by more than a tenth
  EXPECT_EQ(loss->RateAt(2), 1);
  loss->Observe(3, -12);  // by less
  EXPECT_EQ(loss->RateAt(3), 0.5);
  loss->Observe(4, -10);  // worse
  EXPECT_EQ(loss->RateAt(4), 0.25);

  auto metric = Plateau(plateau + ", metric: accuracy}}");
  metric->Observe(1, -10);
  metric->Observe(2, -8.5);
  EXPECT_EQ(metric->RateAt(2), 1);
  metric->Observe(3, -8);
  EXPECT_EQ(metric->RateAt(3), 0.5);
  metric->Observe(4, 1);  // across zero
  EXPECT_EQ(metric->RateAt(4), 0.5);
  metric->Observe(5, 0.5);
  EXPECT_EQ(metric->RateAt(5), 0.25);
}

TEST(RateSchedule, APlateauThatBeginsWithAnInfiniteLossMakesProgress) {
  auto schedule = Plateau("{plateau: {factor: 0.5, patience: 0}}");
  schedule->Observe(1, INFINITY);
  schedule->Observe(2, 5);
  EXPECT_EQ(schedule->RateAt(2), 1);
  schedule->Observe(3, 5);
  EXPECT_EQ(schedule->RateAt(3), 0.5);
}

TEST(BestSoFar, OfNegativeNumbers) {
  BestSoFar loss;
  EXPECT_TRUE(loss.Take(-1, false));
  EXPECT_TRUE(loss.Take(-2, false));
  EXPECT_FALSE(loss.Take(-1.5, false));
  EXPECT_FALSE(loss.Take(1, false));
  EXPECT_EQ(loss.value, -2);
  EXPECT_EQ(loss.evaluations_since, 2);
  BestSoFar r2;
  EXPECT_TRUE(r2.Take(-3, true));
  EXPECT_FALSE(r2.Take(-4, true));
  EXPECT_TRUE(r2.Take(-0.5, true));
  EXPECT_TRUE(r2.Take(0.25, true));
}

TEST(RateSchedule, APlateauGoesOnFromItsState) {
  auto whole = Plateau("{plateau: {factor: 0.5, patience: 2}}");
  for (const double loss : {3.0, 2.0, 2.1}) whole->Observe(4, loss);
  auto resumed = Plateau("{plateau: {factor: 0.5, patience: 2}}");
  resumed->Restore(whole->State());
  for (int64_t step = 5; step < 40; ++step) {
    const double loss = step % 7 == 0 ? 2.0 / static_cast<double>(step) : 2.2;
    whole->Observe(step, loss);
    resumed->Observe(step, loss);
    ASSERT_EQ(whole->RateAt(step), resumed->RateAt(step)) << step;
  }
  EXPECT_LT(whole->RateAt(40), 0.01);
  EXPECT_EQ(whole->State(), resumed->State());
}

TEST(RateSchedule, HundredsOfDropsAndNumbersThatAreNone) {
  auto schedule = Plateau("{plateau: {factor: 0.9, patience: 0}}");
  schedule->Observe(0, std::nan(""));
  for (int64_t step = 1; step < 200; ++step) schedule->Observe(step, 1);
  EXPECT_NEAR(schedule->RateAt(300), std::pow(0.9, 199), 1e-18);
  EXPECT_NEAR(schedule->RateAt(180), std::pow(0.9, 180), 1e-18);
}

TEST(RateSchedule, APlateauOfAMetric) {
  const auto accuracy = Plateau("{plateau: {metric: accuracy}}");
  ASSERT_TRUE(accuracy.has_value());
  EXPECT_EQ(accuracy->metric, "accuracy");
  EXPECT_TRUE(accuracy->higher_is_better);
  EXPECT_FALSE(Plateau("{plateau: {metric: spread}}")->higher_is_better);
  EXPECT_EQ(Plateau("{plateau: {metric: p.loss}}")->metric, "loss");
  EXPECT_EQ(Plateau("plateau")->patience, 10);
}

TEST(RateSchedule, APlateauThatCannotBe) {
  std::string errors;
  EXPECT_FALSE(Plateau("{plateau: {metric: acuracy}}", &errors).has_value());
  EXPECT_NE(errors.find("did you mean 'accuracy'?"), std::string::npos) << errors;
  EXPECT_FALSE(Plateau("{plateau: {factor: 1}}", &errors).has_value());
  EXPECT_NE(errors.find("less than 1"), std::string::npos) << errors;
  EXPECT_FALSE(Plateau("{plateau: {patience: 1.5}}", &errors).has_value());
  EXPECT_NE(errors.find("must be a whole number"), std::string::npos) << errors;
  EXPECT_FALSE(Plateau("plateau", &errors, {"data.valid="}).has_value());
  EXPECT_NE(errors.find("looks at validation data"), std::string::npos) << errors;
  EXPECT_FALSE(Plateau("{step: {warmup: 1, warmup_steps: 2}}", &errors).has_value());
  EXPECT_NE(errors.find("exclude each other"), std::string::npos) << errors;
}

}  // namespace
}  // namespace cgrun
