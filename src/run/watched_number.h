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

  // Returns its value, or NaN if it is not among them.
  double In(const std::vector<NamedNumber>& means) const;
};

// Finds `loss`, a metric, or one of them behind `PATH.`. Losses and metrics of an error get better
// by falling, all others by rising. If there is none of that name, or if several paths have it,
// that is an error and the result is empty.
std::optional<WatchedNumber> FindWatchedNumber(const ModelSpec& model, const MarkedText& name,
                                               Diagnostics& diagnostics);

// Reports an error for each of `names` that is a metric of the forward graph and a list or a table.
// A watched metric must be one number.
void CheckOneNumber(const Graph& forward, const std::vector<MarkedText>& names,
                    Diagnostics& diagnostics);
// Returns the names that `early_stop`, `keep_best` and the schedules of `model` give, as far as the
// file has them.
std::vector<MarkedText> WatchedNames(const ModelSpec& model);

// Checks that there are validation data for `early_stop` and `keep_best`, which look at them. If
// the file has training data alone, each of the two keys is an error. Returns false after an error.
// It does not check that the metrics exist.
bool CheckWatchedData(const ModelSpec& model, Diagnostics& diagnostics);

// Holds the numbers that a run looks at after each evaluation of `valid`.
struct WatchedNumbers {
  std::optional<WatchedNumber> kept;      // of `keep_best`
  std::optional<WatchedNumber> stopping;  // of `early_stop`
};

// Reads the numbers that the model file names. If the file has no data for `valid`, that is an
// error, as above.
WatchedNumbers ReadWatchedNumbers(const ModelSpec& model, bool has_valid, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_RUN_WATCHED_NUMBER_H_
