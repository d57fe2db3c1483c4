// Metrics that decide: whether a model is the best so far (`keep_best`), and whether training goes
// on
// (`early_stop`).
#ifndef CGRUN_TRAIN_WATCHED_METRIC_H_
#define CGRUN_TRAIN_WATCHED_METRIC_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"
#include "src/train/batch_runner.h"
#include "src/train/checkpoint.h"

namespace cgrun {

struct WatchedMetric {
  size_t index = 0;  // among the means of an evaluation
  bool smaller_is_better = true;

  // Takes the value of another evaluation; whether it is the best so far. One that is not a number
  // never is.
  bool Update(double value, BestSoFar& best) const;
};

// The mean of that name: a metric of a path, `loss`, or with the path's name before it,
// "classify.accuracy". Nothing after an error, which lists the names.
std::optional<WatchedMetric> FindMetric(const ModelSpec& model,
                                        const std::vector<NamedNumber>& means,
                                        const MarkedText& name, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_WATCHED_METRIC_H_
