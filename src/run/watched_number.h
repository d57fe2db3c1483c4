// Numbers of an evaluation that a run looks at: a loss or a metric by the name that the model file
// gives (`plateau`, `early_stop`, `keep_best`).
#ifndef CGRUN_RUN_WATCHED_NUMBER_H_
#define CGRUN_RUN_WATCHED_NUMBER_H_

#include <optional>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"
#include "src/run/batch_runner.h"

namespace cgrun {

struct WatchedNumber {
  std::string name;  // as BatchRunner::Means() calls it: "loss", "accuracy", "classify.loss"
  bool higher_is_better = false;

  // Its value; NaN where it is not among them.
  double In(const std::vector<NamedNumber>& means) const;
};

// Finds `loss`, a metric, or one of them behind `PATH.`. Losses and metrics of an error get better
// by falling, all others by rising. An error, and nothing, where there is none of that name or
// where several paths have it.
std::optional<WatchedNumber> FindWatchedNumber(const ModelSpec& model, const MarkedText& name,
                                               Diagnostics& diagnostics);

// An error for each of `names` that is a metric of the forward graph and a list or a table: what is
// watched is one number.
void CheckOneNumber(const Graph& forward, const std::vector<MarkedText>& names,
                    Diagnostics& diagnostics);
// Returns the names that `early_stop`, `keep_best` and the schedules of `model` give, as far as the
// file has them.
std::vector<MarkedText> WatchedNames(const ModelSpec& model);

// An error for `early_stop` and `keep_best` each, which look at validation data, where the file has
// training data alone. False after one. Metrics that are not there are another matter.
bool CheckWatchedData(const ModelSpec& model, Diagnostics& diagnostics);

// Holds the numbers that a run looks at after each evaluation of `valid`.
struct WatchedNumbers {
  std::optional<WatchedNumber> kept;      // of `keep_best`
  std::optional<WatchedNumber> stopping;  // of `early_stop`
};

// Those that the model file names. An error where it has no data for `valid`, as above.
WatchedNumbers ReadWatchedNumbers(const ModelSpec& model, bool has_valid, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_RUN_WATCHED_NUMBER_H_
