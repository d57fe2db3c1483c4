// Tests whether times of steps tell of a busy machine.
#include "src/session/step_times.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

void Add(StepTimes& times, int count, double seconds) {
  for (int i = 0; i < count; ++i) times.Add(seconds);
}

TEST(StepTimesTest, EvenStepsTellNothing) {
  StepTimes times;
  Add(times, 2000, 1e-3);
  EXPECT_EQ(times.steps(), 2000);
  EXPECT_NEAR(times.seconds(), 2, 1e-6);
  EXPECT_EQ(times.Slowdown(), 0);
}

TEST(StepTimesTest, ManySlowStepsTellOfABusyMachine) {
  StepTimes times;
  Add(times, 500, 1e-3);
  Add(times, 500, 39e-3);
  EXPECT_NEAR(times.Slowdown(), 20, 4);
}

TEST(StepTimesTest, AShortRunTellsNothing) {
  StepTimes times;
  Add(times, 30, 1e-3);
  Add(times, 20, 39e-3);
  EXPECT_EQ(times.Slowdown(), 0);
}

TEST(StepTimesTest, ARareSlowStepTellsNothing) {
  StepTimes times;
  Add(times, 1000, 1e-3);
  times.Add(3600);  // the machine was asleep
  EXPECT_EQ(times.Slowdown(), 0);
}

TEST(StepTimesTest, TakesAnyTime) {
  StepTimes times;
  Add(times, 100, 0);
  Add(times, 100, 1e9);
  EXPECT_GT(times.Slowdown(), 3);
}

}  // namespace
}  // namespace cgrun
