// Whether clocks tell of other programs.
#include "src/train/machine_load.h"

#include <gtest/gtest.h>

#include <string>

namespace cgrun {
namespace {

// Of a machine of two processors and 100 ticks a second, `seconds` after it was started.
MachineLoad::Reading After(double seconds, const std::string& stat, double own) {
  return {ParseProcessorTimes(stat, 100), own, seconds};
}

constexpr char kBegin[] = "cpu  1000 0 100 5000 100 0 0 0 0 0\ncpu0 500 0 50 2500 50 0 0 0 0 0\n";

TEST(ProcessorTimesTest, AreThoseOfTheFirstLine) {
  const auto times = ParseProcessorTimes("cpu  100 20 30 4000 500 6 7 8 90 9\ncpu0 1 1 1\n", 100);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->busy, 1.71, 1e-9) << "a guest's time counts once";
  EXPECT_NEAR(times->idle, 45, 1e-9);
}

TEST(ProcessorTimesTest, AreNoneOfAnotherText) {
  for (const char* text : {"", "cpu", "cpu \n", "cpu  1 2 3\n", "cpu  1 2 3 4 5 6 7 x\n",
                           "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 5 6 7 8", "intr 1 2 3\n"}) {
    EXPECT_FALSE(ParseProcessorTimes(text, 100).has_value()) << text;
  }
  EXPECT_FALSE(ParseProcessorTimes(kBegin, 0).has_value());
  EXPECT_TRUE(ParseProcessorTimes(kBegin, 100).has_value());
}

TEST(MachineLoadTest, TellsOfOthersThatTakeTheProcessors) {
  const MachineLoad load(After(10, kBegin, 1));
  // Ten seconds of two processors: 4 s of user and 14 s of steal, of them 5 s of its own.
  const std::string stat = "cpu  1400 0 100 5100 200 0 0 1400 0 0\n";
  EXPECT_NEAR(load.OthersShare(After(20, stat, 6)), 13.0 / 20, 1e-9);
  EXPECT_NEAR(load.OthersShare(After(20, stat, 1)), 18.0 / 20, 1e-9);
}

TEST(MachineLoadTest, AQuietMachineTellsNothing) {
  const MachineLoad load(After(10, kBegin, 1));
  EXPECT_EQ(load.OthersShare(After(20, "cpu  2900 0 200 5000 100 0 0 0 0 0\n", 20)), 0)
      << "it took them itself";
  EXPECT_EQ(load.OthersShare(After(20, "cpu  2000 0 100 6000 100 0 0 0 0 0\n", 1)), 0)
      << "half of them were left";
  EXPECT_EQ(load.OthersShare(After(20, kBegin, 1)), 0) << "clocks that stand still";
  EXPECT_EQ(load.OthersShare(After(20, "cpu  2500 0 100 5000 100 0 0 0 0 0\n", 40)), 0)
      << "it took more than all";
}

TEST(MachineLoadTest, AShortRunTellsNothing) {
  const MachineLoad load(After(10, kBegin, 1));
  const std::string stat = "cpu  3000 0 100 5000 100 0 0 0 0 0\n";
  EXPECT_EQ(load.OthersShare(After(11.9, stat, 2)), 0);
  EXPECT_GT(load.OthersShare(After(12.1, stat, 2)), 0.5);
}

TEST(MachineLoadTest, WithoutClocksTellsNothing) {
  const std::string stat = "cpu  3000 0 100 5000 100 0 0 0 0 0\n";
  EXPECT_EQ(MachineLoad(After(10, "", 1)).OthersShare(After(20, stat, 2)), 0);
  EXPECT_EQ(MachineLoad(After(10, kBegin, 1)).OthersShare(After(20, "none", 2)), 0);
  const double share = MachineLoad().OthersShare();  // of this machine, in no time
  EXPECT_EQ(share, 0);
}

}  // namespace
}  // namespace cgrun
