// Warnings of what a model reads or computes in vain.
#ifndef CGRUN_LINT_UNREAD_H_
#define CGRUN_LINT_UNREAD_H_

#include "src/frontend/frontend.h"

namespace cgrun {

// Warns of inputs that no path reads; `training` is the forward graph of a training step, which may
// leave out paths.
void WarnOfUnreadInputs(const ModelSpec& model, const Graph& training, DType precision,
                        Diagnostics& diagnostics);

// Does the same, and warns of unread operators and uses of networks and blocks in `forward`, the
// graph of a step of training or evaluation. If an operator stands in one place of the file and
// runs several times, as in a network, the warning comes only where no use of it is read. `kept`
// has the gradients that the file keeps.
void WarnOfUnread(const ModelSpec& model, const Graph& forward, const Kept& kept, DType precision,
                  Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_UNREAD_H_
