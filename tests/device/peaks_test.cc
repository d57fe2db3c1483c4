// The measured ceilings of the host are numbers that a machine of this century can have.
#include "src/device/peaks.h"

#include <gtest/gtest.h>

#include "src/device/device.h"

namespace cgrun {
namespace {

TEST(Peaks, AreThoseOfARealMachine) {
  const Peaks peaks = MeasurePeaks(1);
  EXPECT_EQ(peaks.threads, 1);
  EXPECT_GT(peaks.flops_per_second, 0.5e9);
  EXPECT_LT(peaks.flops_per_second, 5e12);
  EXPECT_GT(peaks.bytes_per_second, 0.1e9);
  EXPECT_LT(peaks.bytes_per_second, 5e12);
}

TEST(Peaks, HostThreadsAreThoseThatMayRun) { EXPECT_GE(HostThreads(), 1); }

}  // namespace
}  // namespace cgrun
