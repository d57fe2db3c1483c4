// Learning-rate schedules against their formulas.
#include "src/train/rate_schedule.h"

#include <gtest/gtest.h>

#include "src/model/model_file.h"

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
  auto schedule = ReadRateSchedule(*model->train->optimizer, 0.01, diagnostics);
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
  EXPECT_FALSE(ReadRateSchedule(*model->train->optimizer, 0.01, diagnostics).has_value());
  EXPECT_NE(diagnostics.ToString().find("did you mean 'cosine'?"), std::string::npos);
}

}  // namespace
}  // namespace cgrun
