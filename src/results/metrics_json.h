// Writes the results and the memory of a pass over data as JSON, for summary.json and `cgrun eval
// --json`.
#ifndef CGRUN_RESULTS_METRICS_JSON_H_
#define CGRUN_RESULTS_METRICS_JSON_H_

#include <string>

#include "src/results/memory_use.h"
#include "src/results/pass_result.h"

namespace cgrun {

// {"loss": 0.1, "per_class_accuracy": [1, 0.5], "confusion_matrix": [[3, 0], [1, 2]]}; a number
// that is not finite is null. Without samples an empty object.
std::string MetricsJson(const PassResult& pass);

// {"planned_peak_bytes": 900, "measured_peak_bytes": 880, …}; null for what eager mode does not
// plan.
std::string MemoryJson(const MemoryUse& memory);

}  // namespace cgrun

#endif  // CGRUN_RESULTS_METRICS_JSON_H_
