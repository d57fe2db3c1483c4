// TrainResult describes a training run that has ended.
#ifndef CGRUN_RESULTS_TRAIN_RESULT_H_
#define CGRUN_RESULTS_TRAIN_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/results/loaded_weights.h"
#include "src/results/memory_use.h"
#include "src/results/pass_result.h"

namespace cgrun {

// Samples that fill no whole batch of streams, by the name of their set; no set without any.
using LeftOut = std::vector<std::pair<std::string, int64_t>>;

// When a file of weights was written, in the course of its run.
struct WeightsPlace {
  int64_t step = 0;   // updates done
  int64_t epoch = 0;  // the last that was begun, from 1; 0: none
};

// Says how `early_stop` has ended a run.
struct EarlyStop {
  std::string metric;
  double value = 0;          // the best; NaN: it was never a number
  int64_t evaluations = 0;   // since the best one, none of them better
  WeightsPlace best;         // after which the best evaluation was
  bool approximate = false;  // see IsApproximate()
};

struct TrainResult {
  std::string model;  // its name
  std::string device;
  int64_t batch = 0;
  // The file of weights that the run began with, and what of it was loaded; "" without one.
  std::string initial_weights;
  WeightsReport loaded;
  bool interrupted = false;
  bool stopped_early = false;           // by `early_stop`
  std::optional<EarlyStop> early_stop;  // says how it was stopped early
  int64_t epochs = 0;  // begun, former parts of a resumed run included; `steps` likewise
  int64_t steps = 0;
  LeftOut left_out;
  int64_t resumed_step = 0;  // that a resumed run went on from; what follows is of the time since
  double seconds = 0;
  double samples_per_second = 0;  // of training, evaluations and checkpoints left out
  double train_seconds = 0;       // of training alone
  double stall_seconds = 0;       // the part of `train_seconds` that waited for the loader
  double checkpoint_seconds = 0;  // the part of `seconds` that wrote checkpoints
  int64_t checkpoints = 0;        // that were written
  // The time of steps on the host's threads, divided by the time of the quickest ones. It is 0
  // unless it tells of a busy machine.
  double step_slowdown = 0;
  // The part of the host's processors that other programs took while the run computed there, where
  // that tells of a busy machine; else 0.
  double others_share = 0;
  int64_t state_checks = 0;    // checks of the whole state
  int64_t graph_analyses = 0;  // Session::graph_analyses(), at the end
  EpochReport last;            // of the last epoch; an evaluation of the weights it ended with
  MemoryUse memory;
  // The cap made steps longer by this share, as measured by SlowdownOf: 0.1 is a tenth. There is
  // none without a cap that needed a smaller arena.
  std::optional<double> slowdown;
  std::optional<double> expected_slowdown;  // the estimate before the run, if there was one
  // From the end of step 1 until the last checkpoint is written; nothing without a step, and no
  // count under a sanitizer.
  std::optional<int64_t> allocations_after_first_step;
  std::optional<int64_t> pool_requests;  // of libraries, in the same time
  std::optional<int64_t> heap_growth_bytes;
  uint64_t weights_hash = 0;
  std::string checkpoint;   // the file with the final state
  std::string best;         // that of the best evaluation; empty where there was none
  std::string lost_best;    // says why it cannot be read, if it is damaged or gone
  std::string best_metric;  // by which the best evaluation is told; empty where there is no `valid`
  double best_value = 0;    // of that metric
  std::optional<WeightsPlace> best_place;
  // Evaluations that gave no number to go by, which count as no better; and what had none.
  int64_t unjudged = 0;
  std::string unjudged_metric;
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_TRAIN_RESULT_H_
