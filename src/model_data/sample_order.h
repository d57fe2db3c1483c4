// The order in which training goes over its samples, and whether that fits into memory.
#ifndef CGRUN_MODEL_DATA_SAMPLE_ORDER_H_
#define CGRUN_MODEL_DATA_SAMPLE_ORDER_H_

#include "src/base/diagnostics.h"
#include "src/model_data/model_data.h"

namespace cgrun {

// Returns whether training goes over its samples in random order, which is a list of them. An
// evaluation never does.
bool ShufflesSamples(const ModelSpec& model);

// Reports training data whose random order is a list that does not fit into memory, beside the
// sets in `data`, which are open. For verbs that train, or plan that.
void CheckOrder(const ModelSpec& model, const ModelData& data, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_SAMPLE_ORDER_H_
