// What a pass over data gave, as JSON: summary.json and `cgrun eval --json` have it.
#ifndef CGRUN_TRAIN_METRICS_JSON_H_
#define CGRUN_TRAIN_METRICS_JSON_H_

#include <string>

#include "src/train/session.h"

namespace cgrun {

// {"loss": 0.1, "per_class_accuracy": [1, 0.5], "confusion_matrix": [[3, 0], [1, 2]]}; a number
// that is not finite is null. Without samples an empty object.
std::string MetricsJson(const PassResult& pass);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_METRICS_JSON_H_
