// A mean that forgets, and turns between the ways.
#include "src/program/stream_choice.h"

#include <algorithm>

namespace cgrun {

// The first run of a turn finds caches and threads as the other way left them.
void StreamChoice::Took(double time) noexcept {
  constexpr double kWeight = 0.25;  // of the newest
  if (runs_++ > 0) {
    double& mean = times_[way_];
    mean = mean == 0 ? time : mean + kWeight * (time - mean);
  }
  if (--left_ == 0) Turn();
}

void StreamChoice::Turn() noexcept {
  const Way other = way_ == kInStreams ? kOneByOne : kInStreams;
  const bool is_known = times_[other] > 0;
  runs_ = 0;
  if (!is_known || !is_trial_) {
    left_ = is_known ? kTrialRuns : kFirstRuns;
    way_ = other;
    is_trial_ = true;
    return;
  }
  if (times_[other] < times_[way_]) way_ = other;
  const auto [least, most] = std::minmax(times_[kInStreams], times_[kOneByOne]);
  const double ratio = most / std::max(least, 1e-12);
  left_ = static_cast<int64_t>(std::min(kRunsBetween * ratio * ratio, kMostBetween));
  is_trial_ = false;
}

}  // namespace cgrun
