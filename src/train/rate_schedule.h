// Learning rates over time: a pure function of the step.
#ifndef CGRUN_TRAIN_RATE_SCHEDULE_H_
#define CGRUN_TRAIN_RATE_SCHEDULE_H_

#include <cstdint>
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
//   exponential  factor^epoch, epoch with its fraction
struct RateSchedule {
  enum class Kind { kConstant, kCosine, kPolynomial, kStep, kExponential };

  Kind kind = Kind::kConstant;
  double learning_rate = 0.01;
  double warmup_epochs = 0;
  double final_factor = 0;  // cosine, polynomial: the last rate, as a part of the first
  double power = 1;
  double factor = 0.1;
  double every_epochs = 1;
  int64_t steps_per_epoch = 1;
  int64_t total_steps = 1;

  double RateAt(int64_t step) const;
};

// Reads `lr` and `schedule` of an optimizer; nothing after an error.
std::optional<RateSchedule> ReadRateSchedule(const OpSpec& optimizer, double default_rate,
                                             Diagnostics& diagnostics);

// The schedule of a path.
struct PathSchedule {
  std::string path;
  RateSchedule schedule;
};

// Those of all backprop paths that have an optimizer, in order, their lengths still unset; nothing
// after an error.
std::optional<std::vector<PathSchedule>> ReadRateSchedules(const ModelSpec& model,
                                                           Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_RATE_SCHEDULE_H_
