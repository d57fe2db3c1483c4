// Learning rates over time: a function of the step, and for `plateau` of what evaluations gave
// before it.
#ifndef CGRUN_RUN_RATE_SCHEDULE_H_
#define CGRUN_RUN_RATE_SCHEDULE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// rate(s) = lr · warm-up(s) · shape(s), s in steps from 0:
//   warm-up      (s + 1) / w below w steps, then 1
//   constant     1
//   cosine       final + (1 − final)·(1 + cos(π·t))/2, t = (s − w)/(total − w)
//   polynomial   final + (1 − final)·(1 − t)^power
//   step         factor^⌊epoch / every⌋
//   exponential  factor^epoch, epoch with its fraction: it changes with each step
//   plateau      max(min, factor^n), n as often as a watched number has made no progress in more
//                than `patience` evaluations in a row (PyTorch ReduceLROnPlateau)
struct RateSchedule {
  enum class Kind { kConstant, kCosine, kPolynomial, kStep, kExponential, kPlateau };

  Kind kind = Kind::kConstant;
  double learning_rate = 0.01;
  double warmup_epochs = 0;
  double warmup_steps = 0;      // instead of epochs; 0: those count
  SourceMark warmup_mark = {};  // the place in the file that gives either
  double final_factor = 0;      // cosine, polynomial: the last rate, as a part of the first
  double power = 1;
  double factor = 0.1;
  double every_epochs = 1;
  int64_t steps_per_epoch = 1;
  int64_t total_steps = 1;

  // These members are for kPlateau. Progress is a change of more than `threshold`, as a part of the
  // best so far.
  std::string metric = "loss";
  SourceMark metric_mark = {};  // the place in the file that names it
  bool higher_is_better = false;
  double threshold = 1e-4;
  double patience = 10;  // evaluations
  double least_factor = 0;

  // Returns the rate of any step. For kPlateau, the step must come after Restore() and after all
  // drops but the last kDrops.
  double RateAt(int64_t step) const;
  // Returns how many steps the rate rises.
  double WarmupSteps() const;

  // Returns whether evaluations matter, by the number that is called `metric`.
  bool watches() const { return kind == Kind::kPlateau; }
  // Takes the number that an evaluation after `step` steps gave.
  void Observe(int64_t step, double value);
  // Returns the state for checkpoints: the best number so far, evaluations without progress, drops
  // so far.
  std::array<double, 3> State() const;
  void Restore(const std::array<double, 3>& state);

 private:
  double DropsBefore(int64_t step) const;

  std::optional<double> best_;
  double without_progress_ = 0;
  static constexpr size_t kDrops = 64;
  double older_drops_ = 0;
  std::array<int64_t, kDrops> drops_{};  // the steps from which on the rate is lower
  size_t drop_count_ = 0;
};

// An argument of a schedule is a number, or the name of the number that `plateau` looks at.
struct ScheduleArgument {
  std::string name;
  std::string doc;
  double RateSchedule::*number;  // null: the name
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool required = false;
  bool whole = false;
};

struct ScheduleKind {
  std::string name;
  std::string doc;
  RateSchedule::Kind kind;
  std::vector<ScheduleArgument> arguments;
};

// Lists what a model file may say behind `schedule`.
const std::vector<ScheduleKind>& ScheduleKinds();

// Reads `lr` and `schedule` of an optimizer of `model`. After an error the result is empty.
std::optional<RateSchedule> ReadRateSchedule(const ModelSpec& model, const OpSpec& optimizer,
                                             double default_rate, Diagnostics& diagnostics);

// Pairs a path with its schedule.
struct PathSchedule {
  std::string path;
  RateSchedule schedule;
  SourceMark optimizer;  // of the file; paths may share one
};

// Reads the schedules of all backprop paths that have an optimizer, in order. Their lengths are
// still unset. After an error the result is empty.
std::optional<std::vector<PathSchedule>> ReadRateSchedules(const ModelSpec& model,
                                                           Diagnostics& diagnostics);

// Returns the names of the rates in logs. There is one, "learning_rate", or one per path if paths
// have optimizers of their own.
std::vector<std::string> RateNames(const std::vector<PathSchedule>& paths);

// Says where a run that has become longer changes the rate of a path.
struct RateJump {
  std::string path;
  double before = 0;  // in the last step so far
  double after = 0;   // in the next
};
// Finds the jumps in a run that was `steps_before` steps long until step `step`. `schedules` are
// those of `paths`, with the run's new length.
std::vector<RateJump> FindRateJumps(const std::vector<PathSchedule>& paths,
                                    const std::vector<RateSchedule>& schedules,
                                    int64_t steps_before, int64_t step);

// Warns once for each optimizer whose warm-up is longer than a run of `total_steps` steps. If
// `total_steps` is 0, time ends the run.
void WarnOfLongWarmups(const std::vector<PathSchedule>& paths, int64_t steps_per_epoch,
                       int64_t total_steps, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_RUN_RATE_SCHEDULE_H_
