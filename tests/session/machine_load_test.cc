// Tests whether clocks tell of other programs.
#include "src/session/machine_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace cgrun {
namespace {

std::optional<ProcessorTimes> Parse(std::string_view stat, double ticks = 100,
                                    size_t piece = 1000) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(0, &processors);
  CPU_SET(2, &processors);
  ProcessorTimesReader reader(processors, ticks);
  while (!stat.empty() && reader.Add(stat.substr(0, piece))) {
    stat.remove_prefix(std::min(piece, stat.size()));
  }
  return reader.Times();
}

// Makes a reading of the two processors that a process may use, at 100 ticks a second, `seconds`
// after the machine was started. `first` is the text of the first processor's line. The other two
// do not count.
MachineLoad::Reading After(double seconds, const std::string& first, double own) {
  return {Parse("cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 " + first +
                "\ncpu1 7 7 7 7 7 7 7 7 0 0\ncpu2 0 0 0 0 0 0 0 0 0 0\nintr 1 2 3\n"),
          own, seconds};
}

constexpr char kBegin[] = "1000 0 100 5000 100 0 0 0 0 0";

TEST(ProcessorTimesTest, AreThoseOfTheProcessorsThatMayBeUsed) {
  const std::string stat =
      "cpu  9100 20 30 4000 500 6 7 8 90 9\ncpu0 100 20 30 4000 500 6 7 8 90 9\n"
      "cpu1 9000 0 0 0 0 0 0 0 0 0\ncpu2 100 0 0 1000 0 0 0 0 0 0\n"
      "intr " +
      std::string(5000, '1') + "\ncpu0 1 1 1\n";
  for (const size_t piece : {1000, 1, 7}) {
    const auto times = Parse(stat, 100, piece);
    ASSERT_TRUE(times.has_value());
    EXPECT_NEAR(times->busy, 2.71, 1e-9) << "a guest's time counts once";
    EXPECT_NEAR(times->idle, 55, 1e-9);
    EXPECT_EQ(times->processors, 2);
  }
}

TEST(ProcessorTimesTest, OfManyProcessorsAreReadInPieces) {
  std::string stat = "cpu  1 2 3 4 5 6 7 8 9 10\n";
  for (int i = 0; i < 1500; ++i) stat += "cpu" + std::to_string(i) + " 100 0 0 200 0 0 0 0 0 0\n";
  const auto times = Parse(stat + "intr 1 2 3\n", 100, 4096);
  ASSERT_TRUE(times.has_value());
  EXPECT_NEAR(times->busy, 2, 1e-9);
  EXPECT_EQ(times->processors, 2);
}

TEST(ProcessorTimesTest, AreNoneOfAnotherText) {
  for (const char* text :
       {"", "cpu", "cpu \n", "cpu  1 2 3 4 5 6 7 8\n", "cpu0 1 2 3\n", "cpu0 1 2 3 4 5 6 7 x\n",
        "cpux 1 2 3 4 5 6 7 8\n", "cpu1 1 2 3 4 5 6 7 8\n", "cpu0 1 2 3 4 5 6 7 8", "intr 1 2 3\n",
        "intr 1\ncpu0 1 2 3 4 5 6 7 8\n"}) {
    EXPECT_FALSE(Parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Parse("cpu0 1 2 3 4 5 6 7 8\n", 0).has_value());
  EXPECT_TRUE(Parse("cpu0 1 2 3 4 5 6 7 8\n").has_value());
}

// Guards against a busy machine that slows every step alike, which times of steps do not show.
TEST(MachineLoadTest, TellsOfOthersThatTakeTheProcessors) {
  const MachineLoad load(After(10, kBegin, 1));
  // Ten seconds of two processors: 4 s of user and 14 s of steal, of them 5 s of its own.
  const std::string stat = "1400 0 100 5100 200 0 0 1400 0 0";
  EXPECT_NEAR(load.OthersShare(After(20, stat, 6)), 13.0 / 20, 1e-9);
  EXPECT_NEAR(load.OthersShare(After(20, stat, 1)), 18.0 / 20, 1e-9);
}

TEST(MachineLoadTest, AQuietMachineTellsNothing) {
  const MachineLoad load(After(10, kBegin, 1));
  EXPECT_EQ(load.OthersShare(After(20, "2900 0 200 5000 100 0 0 0 0 0", 20)), 0)
      << "it took them itself";
  EXPECT_EQ(load.OthersShare(After(20, "2000 0 100 6000 100 0 0 0 0 0", 1)), 0)
      << "half of them were left";
  EXPECT_EQ(load.OthersShare(After(20, kBegin, 1)), 0) << "clocks that stand still";
  EXPECT_EQ(load.OthersShare(After(20, "2500 0 100 5000 100 0 0 0 0 0", 40)), 0)
      << "it took more than all";
}

TEST(MachineLoadTest, AShortRunTellsNothing) {
  const MachineLoad load(After(10, kBegin, 1));
  const std::string stat = "3000 0 100 5000 100 0 0 0 0 0";
  EXPECT_EQ(load.OthersShare(After(11.9, stat, 2)), 0);
  EXPECT_GT(load.OthersShare(After(12.1, stat, 2)), 0.5);
}

TEST(MachineLoadTest, WithoutClocksTellsNothing) {
  const std::string stat = "3000 0 100 5000 100 0 0 0 0 0";
  EXPECT_EQ(MachineLoad(After(10, "", 1)).OthersShare(After(20, stat, 2)), 0);
  EXPECT_EQ(MachineLoad(After(10, kBegin, 1)).OthersShare(After(20, "none", 2)), 0);
  MachineLoad::Reading other = After(20, stat, 2);
  other.machine->processors = 1;
  EXPECT_EQ(MachineLoad(After(10, kBegin, 1)).OthersShare(other), 0) << "of other processors";
  const double share = MachineLoad().OthersShare();  // of this machine, in no time
  EXPECT_EQ(share, 0);
}

}  // namespace
}  // namespace cgrun
