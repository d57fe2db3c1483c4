// Laps by a clock whose marks are read at the end of a run.
#include "src/base/operator_times.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/base/host_clock.h"

namespace cgrun {
namespace {

int64_t Now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

OperatorTimes::OperatorTimes(const std::vector<size_t>& operators, size_t most_runs,
                             std::unique_ptr<StreamClock> clock)
    : runs_(most_runs), clock_(std::move(clock)) {
  for (size_t count : operators) times_.emplace_back(count);
  marks_.resize(MarksOf(operators));
  laps_.resize(marks_.size());
  if (clock_ == nullptr) clock_ = std::make_unique<HostClock>(marks_.size());
}

size_t OperatorTimes::MarksOf(const std::vector<size_t>& operators) {
  size_t most = 0;
  for (size_t count : operators) most = std::max(most, count);
  return most + 1;
}

void OperatorTimes::Begin() {
  if (is_open_) End();
  is_open_ = true;
  begin_ = Now();
  if (origin_ < 0) origin_ = begin_;
  laps_of_run_ = 0;
  clock_->Mark();
}

void OperatorTimes::Lap(int entry, int index) noexcept {
  laps_[laps_of_run_++] = {entry, index, 0, 0};
  clock_->Mark();
}

void OperatorTimes::End() {
  is_open_ = false;
  clock_->Read(std::span(marks_).first(laps_of_run_ + 1));
  for (size_t i = 0; i < laps_of_run_; ++i) {
    Add(laps_[i].entry, laps_[i].index, begin_ + marks_[i], begin_ + marks_[i + 1]);
  }
}

void OperatorTimes::Add(int entry, int index, int64_t begin, int64_t end) noexcept {
  OperatorTime& time = times_[static_cast<size_t>(entry)][static_cast<size_t>(index)];
  ++time.calls;
  time.nanoseconds += end - begin;
  if (kept_ < runs_.size()) runs_[kept_++] = {entry, index, begin - origin_, end - origin_};
}

}  // namespace cgrun
