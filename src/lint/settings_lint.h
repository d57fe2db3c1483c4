// Warnings of settings that a run takes, and that nobody can have meant.
#ifndef CGRUN_LINT_SETTINGS_LINT_H_
#define CGRUN_LINT_SETTINGS_LINT_H_

#include "src/base/diagnostics.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Warns of learning rates that learn nothing or are out of all proportion, and of `valid` and
// `test` with the files of `train`. Warns of `color_jitter` on images that are normalized already,
// and of values that are 1 whatever is learned. Warns of networks and blocks that nothing uses.
// `training` is the forward graph of a training step.
void WarnOfSettings(const ModelSpec& model, const Graph& training, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_SETTINGS_LINT_H_
