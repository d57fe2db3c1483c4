// Tests what plans say of the memory for a run, and of the values that take much of it.
#include "src/report/plan_report.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(PlanReport, TellsWhatDoesNotFit) {
  const MemoryRoom room = {"this machine", 64 * kMiB, 16 * kMiB};
  EXPECT_EQ(FaultOfRoom(16 * kMiB, room), "");
  EXPECT_EQ(FaultOfRoom(17 * kMiB, room),
            "this takes 17.0 MiB, and 16.0 MiB of this machine are free: it cannot run now");
  EXPECT_EQ(FaultOfRoom(65 * kMiB, room),
            "this takes 65.0 MiB, and this machine has 64.0 MiB: it cannot run here");
}

TEST(PlanReport, ATotalThatIsNotKnownIsNoLimit) {
  EXPECT_EQ(FaultOfRoom(16 * kMiB, {"device cuda", 0, 16 * kMiB}), "");
}

TEST(PlanReport, NotesWhatCopiesInF32Take) {
  PlanSubject subject;
  subject.entries = {"train"};
  subject.batches = {4};
  subject.copies_bytes = kMiB;
  MemoryLayout layout;
  layout.entries.resize(1);
  layout.arena_bytes = 10 * kMiB;
  EXPECT_EQ(PlanText(subject, layout, PlanDetail::kBiggest).find("note: "), std::string::npos);
  layout.arena_bytes = 9 * kMiB;
  EXPECT_NE(PlanText(subject, layout, PlanDetail::kBiggest).find("note: at the peak 1.00 MiB are"),
            std::string::npos);
}

}  // namespace
}  // namespace cgrun
