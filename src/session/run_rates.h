// RunRates: the learning rates of a run, one for each path that learns.
#ifndef CGRUN_SESSION_RUN_RATES_H_
#define CGRUN_SESSION_RUN_RATES_H_

#include <cstdint>
#include <vector>

#include "src/results/pass_result.h"
#include "src/run/batch_runner.h"
#include "src/run/rate_schedule.h"

namespace cgrun {

class RunRates {
 public:
  RunRates() = default;
  // `total_steps`: 0 where time ends the run.
  RunRates(std::vector<PathSchedule> paths, int64_t steps_per_epoch, int64_t total_steps);

  const std::vector<PathSchedule>& paths() const { return paths_; }
  const std::vector<RateFeed>& feeds() const { return feeds_; }
  // Names the feeds as the paths of the engine do.
  void NameFeeds(const EngineModel& model);
  // The rates of `step`, which counts from 0.
  void Set(int64_t step);
  // Returns EpochReport::rates with the names set.
  std::vector<NamedNumber> Columns() const;
  // For schedules that wait for progress: `result` is of `valid`, after `step` steps.
  void Observe(const PassResult& result, int64_t step);
  // If the run had `steps_before` steps until it got to `step`: where its rates jump.
  std::vector<RateJump> Jumps(int64_t steps_before, int64_t step) const;

  // The state of the schedules that watch a metric, as numbers of a checkpoint.
  size_t StateSize() const;
  void Save(std::vector<double>& numbers) const;
  void Restore(const std::vector<double>& numbers);

 private:
  std::vector<PathSchedule> paths_;      // as the file has them
  std::vector<RateSchedule> schedules_;  // with the run's length, one a feed
  std::vector<RateFeed> feeds_;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_RUN_RATES_H_
