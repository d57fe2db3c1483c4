#include "src/session/run_rates.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cgrun {

RunRates::RunRates(std::vector<PathSchedule> paths, int64_t steps_per_epoch, int64_t total_steps)
    : paths_(std::move(paths)) {
  for (const PathSchedule& of_path : paths_) {
    schedules_.push_back(of_path.schedule);
    schedules_.back().steps_per_epoch = steps_per_epoch;
    if (total_steps > 0) schedules_.back().total_steps = total_steps;
    feeds_.push_back({of_path.path, 0});
  }
}

void RunRates::NameFeeds(const EngineModel& model) {
  for (RateFeed& feed : feeds_) {
    for (const EnginePath& path : model.paths) {
      if (path.name == feed.name) feed.name = path.learning_rate_feed;
    }
  }
}

void RunRates::Set(int64_t step) {
  for (size_t i = 0; i < feeds_.size(); ++i) feeds_[i].rate = schedules_[i].RateAt(step);
}

std::vector<NamedNumber> RunRates::Columns() const {
  std::vector<NamedNumber> columns;
  for (const std::string& name : RateNames(paths_)) columns.push_back({name, 0});
  return columns;
}

void RunRates::Observe(const PassResult& result, int64_t step) {
  for (RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    for (const NamedNumber& mean : result.means) {
      if (mean.name == schedule.metric) schedule.Observe(step, mean.value);
    }
  }
}

std::vector<RateJump> RunRates::Jumps(int64_t steps_before, int64_t step) const {
  return FindRateJumps(paths_, schedules_, steps_before, step);
}

size_t RunRates::StateSize() const {
  size_t count = 0;
  for (const RateSchedule& schedule : schedules_) {
    if (schedule.watches()) count += schedule.State().size();
  }
  return count;
}

void RunRates::Save(std::vector<double>& numbers) const {
  auto to = numbers.begin();
  for (const RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    const auto state = schedule.State();
    to = std::copy(state.begin(), state.end(), to);
  }
}

void RunRates::Restore(const std::vector<double>& numbers) {
  auto from = numbers.begin();
  for (RateSchedule& schedule : schedules_) {
    if (!schedule.watches()) continue;
    auto state = schedule.State();
    std::copy_n(from, state.size(), state.begin());
    schedule.Restore(state);
    from += static_cast<std::ptrdiff_t>(state.size());
  }
}

}  // namespace cgrun
