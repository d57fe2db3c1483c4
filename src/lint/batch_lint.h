// Warnings of what batches of a certain size make of a model.
#ifndef CGRUN_LINT_BATCH_LINT_H_
#define CGRUN_LINT_BATCH_LINT_H_

#include <cstdint>
#include <string>

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Warns of each batch_norm that normalises a single value of each channel in some batch: its result
// is `shift` there, whatever the input. `training` is the forward graph of a training step;
// `samples` counts the training data.
void WarnOfSingleValues(const ModelSpec& model, const Graph& training, int64_t samples,
                        Diagnostics& diagnostics);

// Returns whether an output begins with the axis of samples; otherwise samples cannot be told apart
// in it.
bool HasRows(const Graph& graph, const Output& output);
// Returns whether nothing that an output is computed from has a batch: all samples share it.
bool IsWhole(const Graph& graph, const Output& output);
// "the prediction classify.sum is f32[3], without a row for each sample"
std::string MissingRowsText(const Graph& graph, const Output& output);

// Warns of predictions that have no row for each sample but depend on samples: `cgrun predict`
// cannot tell them apart.
void WarnOfMissingRows(const ModelSpec& model, DType precision, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_BATCH_LINT_H_
