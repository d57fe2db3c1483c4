// Laps of the monotonic clock.
#include "src/base/operator_times.h"

#include <chrono>

namespace cgrun {
namespace {

int64_t Now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

OperatorTimes::OperatorTimes(const std::vector<size_t>& operators, size_t most_runs)
    : runs_(most_runs) {
  for (size_t count : operators) times_.emplace_back(count);
}

void OperatorTimes::Begin() noexcept {
  last_ = Now();
  if (origin_ < 0) origin_ = last_;
}

void OperatorTimes::Lap(int entry, int index) noexcept {
  const int64_t now = Now();
  OperatorTime& time = times_[static_cast<size_t>(entry)][static_cast<size_t>(index)];
  ++time.calls;
  time.nanoseconds += now - last_;
  if (kept_ < runs_.size()) runs_[kept_++] = {entry, index, last_ - origin_, now - origin_};
  last_ = now;
}

}  // namespace cgrun
