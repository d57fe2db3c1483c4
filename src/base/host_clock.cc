// The processor's counter, where it has a steady one, by the system's clock.
#include "src/base/host_clock.h"

#include <algorithm>
#include <chrono>

#include "src/base/check.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace cgrun {
namespace {

#ifdef __x86_64__
// Returns whether it goes on at one pace, whatever the core does.
bool CounterIsSteady() {
  constexpr unsigned kPowerManagement = 0x80000007, kInvariantCounter = 1U << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
}
int64_t Counter() noexcept { return static_cast<int64_t>(__rdtsc()); }
#else
bool CounterIsSteady() { return false; }
int64_t Counter() noexcept { return 0; }
#endif

int64_t SystemNanoseconds() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

HostClock::HostClock(size_t marks) : counts_(CounterIsSteady()), ticks_(marks) { made_ = Now(); }

HostClock::Point HostClock::Now() const noexcept {
  const int64_t nanoseconds = SystemNanoseconds();
  return {counts_ ? Counter() : nanoseconds, nanoseconds};
}

void HostClock::Mark() noexcept { ticks_[marks_++] = counts_ ? Counter() : SystemNanoseconds(); }

// Processors of one machine may read their counters a little apart: no time is before the last.
void HostClock::Read(std::span<int64_t> times) {
  CGRUN_CHECK(times.size() == marks_);
  const Point now = Now();
  const double nanoseconds_a_tick =
      static_cast<double>(now.nanoseconds - made_.nanoseconds) /
      static_cast<double>(std::max<int64_t>(1, now.ticks - made_.ticks));
  int64_t last = 0;
  for (size_t i = 0; i < marks_; ++i) {
    last = std::max(last, static_cast<int64_t>(static_cast<double>(ticks_[i] - ticks_[0]) *
                                               nanoseconds_a_tick));
    times[i] = last;
  }
  marks_ = 0;
}

}  // namespace cgrun
