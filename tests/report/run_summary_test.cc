#include "src/report/run_summary.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TEST(BusyNoteTest, NamesWhatItIsToldBy) {
  EXPECT_EQ(BusyNote(0, 0, 8), "");
  EXPECT_EQ(BusyNote(3.96, 0, 8),
            "note: steps took 4.0 times as long as the quickest of them, as on a busy machine: "
            "`--threads 1` may be faster\n");
  EXPECT_EQ(
      BusyNote(0, 0.434, 8),
      "note: other programs took 43 % of the processors' time: `--threads 1` may be faster\n");
  EXPECT_EQ(BusyNote(3.96, 0.434, 8),
            "note: steps took 4.0 times as long as the quickest of them, and other programs took "
            "43 % of the processors' time: `--threads 1` may be faster\n");
}

TEST(BusyNoteTest, OfOneThreadOffersNoFewer) {
  EXPECT_EQ(BusyNote(0, 0.434, 1),
            "note: other programs took 43 % of the processors' time: on a quiet machine the run is "
            "faster\n");
}

MemoryUse Measured(int64_t bytes) {
  MemoryUse memory;
  memory.arena = 6 << 20;
  memory.base = 2 << 20;
  memory.measured = bytes;
  return memory;
}

TEST(CapNoteTest, TellsOfARunThatTookMoreThanItsCap) {
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_EQ(CapNote(Measured(20 * kMiB), 0), "") << "there is no cap";
  EXPECT_EQ(CapNote(Measured(8 * kMiB), 8 * kMiB), "");
  EXPECT_EQ(CapNote(Measured(9 * kMiB), 8 * kMiB), "");
  EXPECT_EQ(CapNote(Measured(1005 * kMiB), 1000 * kMiB), "");
  const std::string note = CapNote(Measured(10 * kMiB), 8 * kMiB);
  EXPECT_TRUE(
      note.starts_with("note: the run was measured to take 10 MiB, more than its cap of "
                       "8 MiB: 8.00 MiB were planned, "))
      << note;
}

TEST(StopText, MarksAnApproximation) {
  EXPECT_EQ(StopText({"auc", 0.9, 2, {8, 1}, true}),
            "'auc' of `valid` was best after step 8 of epoch 1, ≈0.9000, and no better in 2 "
            "evaluations since");
  EXPECT_EQ(StopText({"auc", 0.9, 2, {8, 1}, false}),
            "'auc' of `valid` was best after step 8 of epoch 1, 0.9000, and no better in 2 "
            "evaluations since");
}

TEST(PlannedTextTest, SaysWhichPartIsTheLarger) {
  MemoryUse memory = Measured(0);
  memory.start = 9 << 20;
  EXPECT_EQ(PlannedText(memory),
            "planned 9.00 MiB, the larger of 9.00 MiB for reading and compiling and 8.00 MiB in "
            "steps (arena 6.00 MiB, data 0 B, base 2.00 MiB)");
}

}  // namespace
}  // namespace cgrun
