// Tests which limit a run meets first, and the memory that it takes beside its anonymous memory.
#include "src/fit/run_memory.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

RunMemory ARun() {
  RunMemory memory;
  memory.arena = 100 * kMiB;
  memory.data = 20 * kMiB;
  memory.base = 10 * kMiB;
  memory.start = 50 * kMiB;
  memory.beside = {.code = 30 * kMiB, .kernel = 5 * kMiB, .reserved = 700 * kMiB};
  return memory;
}

TEST(RunMemory, PeakIsTheStartOrTheSteps) {
  RunMemory memory = ARun();
  EXPECT_EQ(memory.peak(), 130 * kMiB);
  EXPECT_EQ(memory.container(), 165 * kMiB);
  memory.start = 140 * kMiB;
  EXPECT_EQ(memory.peak(), 140 * kMiB);
  EXPECT_EQ(memory.host(), 130 * kMiB);
  EXPECT_EQ(memory.container(), (214 + 35) * kMiB)
      << "planning takes half as much again, and 4 MiB";
  EXPECT_EQ(memory.address_space(), 840 * kMiB);
}

TEST(RunMemory, ADevicesArenaIsNotOnTheHost) {
  RunMemory memory = ARun();
  memory.on_host = false;
  EXPECT_EQ(memory.peak(), 50 * kMiB);
  memory.start = 0;
  EXPECT_EQ(memory.peak(), 30 * kMiB);
}

TEST(RunMemory, TheLeastLimitCounts) {
  const RunMemory like = ARun();
  EXPECT_EQ(LargestPeak({}, like), HostLimits::kNone);
  EXPECT_EQ(LargestPeak({.machine = 300 * kMiB}, like), 300 * kMiB);
  EXPECT_EQ(LargestPeak({.machine = 300 * kMiB, .group = 250 * kMiB}, like), 216 * kMiB);
  EXPECT_EQ(LargestPeak({.group = 250 * kMiB, .address_space = 800 * kMiB}, like), 108 * kMiB)
      << "measured address spaces differ by 8 MiB";
  EXPECT_EQ(LargestPeak({.group = 20 * kMiB}, like), 0) << "code alone is more";
}

TEST(RunMemory, ItsOwnContainerAndAddressSpaceHoldIt) {
  const RunMemory run = ARun();
  const HostLimits limits = {.group = run.container(), .address_space = run.address_space()};
  EXPECT_GE(LargestPeak(limits, run), run.peak());
  const HostLimits lower = {.group = run.container() - 2 * kMiB};
  EXPECT_LT(LargestPeak(lower, run), run.peak());
}

TEST(RunMemory, MoreThreadsReserveMoreAddresses) {
  const RunMemory run = ARun();
  const Footprint one = MeasureFootprint(run, 1), many = MeasureFootprint(run, 9);
  EXPECT_GE(many.reserved, one.reserved + 8 * kMiB);
  EXPECT_GT(one.code, 0);
  EXPECT_GT(one.kernel, 0);
}

}  // namespace
}  // namespace cgrun
