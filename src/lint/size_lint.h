// Warnings of tables whose numbers are too large to be learned from, or to be learned, as they are.
#ifndef CGRUN_LINT_SIZE_LINT_H_
#define CGRUN_LINT_SIZE_LINT_H_

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/ir/graph.h"
#include "src/model/model_spec.h"

namespace cgrun {

// What is wrong with numbers that are too large, behind what they are.
inline constexpr char kLearnsSlowly[] = ": a model learns slowly from such numbers, or not at all";

// Of features that an operator with weights reads as they are; `spec` is what the file says of
// `train`, the training data.
void WarnOfFeatureSizes(const ModelSpec& model, const DataSpec& spec, const Dataset& train,
                        Diagnostics& diagnostics);

// Of targets that a loss of differences compares as they are with what a layer gives as it is: a
// model that divides the ones or multiplies the other knows their size. `training` is the forward
// graph of a training step. Not of a model that begins with weights, which may have learned them.
void WarnOfTargetSizes(const ModelSpec& model, const Graph& training, const Dataset& train,
                       Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_SIZE_LINT_H_
