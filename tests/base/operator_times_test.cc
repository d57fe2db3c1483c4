// Times add up to what passed between Begin() and the last lap, and the first runs are kept.
#include "src/base/operator_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "src/base/allocation_counter.h"
#include "src/base/host_clock.h"

namespace cgrun {
namespace {

TEST(OperatorTimes, GivesEachOperatorTheTimeSinceTheLapBefore) {
  OperatorTimes times({2, 1}, 10);
  times.Begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  times.Lap(0, 0);
  times.Lap(0, 1);
  times.End();
  times.Begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  times.Lap(1, 0);
  times.Lap(1, 0);
  times.End();
  EXPECT_GE(times.Entry(0)[0].nanoseconds, 20'000'000);
  EXPECT_LT(times.Entry(0)[1].nanoseconds, times.Entry(0)[0].nanoseconds);
  EXPECT_EQ(times.Entry(0)[1].calls, 1);
  EXPECT_EQ(times.Entry(1)[0].calls, 2);
  EXPECT_GE(times.Entry(1)[0].nanoseconds, 5'000'000);
}

TEST(HostClock, CountsNanosecondsOfTheSystemsClock) {
  HostClock clock(3);
  for (int run = 0; run < 2; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    clock.Mark();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    clock.Mark();
    clock.Mark();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    std::array<int64_t, 3> times;
    clock.Read(times);
    EXPECT_EQ(times[0], 0);
    EXPECT_GE(times[1], 9'900'000);
    EXPECT_LE(static_cast<double>(times[2]), took.count() * 1.01);
    EXPECT_LE(times[1], times[2]);
  }
}

// Reaches a mark each millisecond.
class MillisecondClock final : public StreamClock {
 public:
  void Mark() noexcept override { ++marks_; }
  void Read(std::span<int64_t> times) override {
    EXPECT_EQ(times.size(), marks_);
    for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i) * 1'000'000;
    marks_ = 0;
  }

 private:
  size_t marks_ = 0;
};

TEST(OperatorTimes, TakesTheTimesOfAStreamWhenTheRunIsOver) {
  OperatorTimes times({2, 1}, 10, std::make_unique<MillisecondClock>());
  for (int run = 0; run < 2; ++run) {
    times.Begin();
    times.Lap(0, 0);
    times.Lap(0, 1);
    EXPECT_EQ(times.Entry(0)[1].calls, run);
    times.End();
  }
  times.Begin();
  times.Lap(1, 0);
  times.End();
  EXPECT_EQ(times.Entry(0)[0].nanoseconds, 2'000'000);
  EXPECT_EQ(times.Entry(0)[1].nanoseconds, 2'000'000);
  EXPECT_EQ(times.Entry(1)[0].calls, 1);
  ASSERT_EQ(times.runs().size(), 5u);
  EXPECT_EQ(times.runs()[1].begin, times.runs()[0].end);
  EXPECT_EQ(times.runs()[1].end - times.runs()[1].begin, 1'000'000);
}

TEST(OperatorTimes, ARunThatBreaksOffCountsWithTheLapsThatItHas) {
  OperatorTimes times({2}, 10);
  for (int run = 0; run < 5; ++run) {
    times.Begin();
    times.Lap(0, 0);
  }
  times.Lap(0, 1);
  times.End();
  EXPECT_EQ(times.Entry(0)[0].calls, 5);
  EXPECT_EQ(times.Entry(0)[1].calls, 1);
}

TEST(OperatorTimes, KeepsTheFirstRunsInOrder) {
  OperatorTimes times({3}, 2);
  times.Begin();
  for (int i = 0; i < 3; ++i) times.Lap(0, i);
  times.End();
  ASSERT_EQ(times.runs().size(), 2u);
  EXPECT_EQ(times.runs()[0].begin, 0);
  EXPECT_EQ(times.runs()[1].index, 1);
  EXPECT_EQ(times.runs()[1].begin, times.runs()[0].end);
  EXPECT_LE(times.runs()[1].begin, times.runs()[1].end);
}

TEST(OperatorTimes, AllocatesNothingInARun) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  OperatorTimes times({100}, 4);
  const int64_t before = CurrentHeapUse().allocations;
  times.Begin();
  for (int i = 0; i < 100; ++i) times.Lap(0, 0);
  times.End();
  EXPECT_EQ(CurrentHeapUse().allocations, before);
}

// A step of LeNet has about 50 operators and takes 0.8 ms: so a profile takes less than 1 % of it.
// The best of several runs, since the machine may do something else in one.
TEST(OperatorTimes, TakesLittleTimeItself) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer makes everything slower";
  constexpr int kLaps = 20'000;
  OperatorTimes times({kLaps}, kLaps);
  double best = 1e9;  // nanoseconds a lap
  for (int run = 0; run < 5; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    times.Begin();
    for (int i = 0; i < kLaps; ++i) times.Lap(0, 0);
    times.End();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / kLaps);
  }
  EXPECT_LT(best, 160);
}

}  // namespace
}  // namespace cgrun
