// Checks the rules that need the whole file: names that must be there, and names that must not be
// there twice. CheckModel() is the entry point.
#ifndef CGRUN_MODEL_CHECK_MODEL_H_
#define CGRUN_MODEL_CHECK_MODEL_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

void CheckModel(const ModelSpec& model, Diagnostics& diagnostics);

// Returns whether a network that an operator of `path` uses is the very word `name`, which `gan`
// writes once for what a path uses and trains: what is wrong with it is told of the operator.
bool IsWordOfNetwork(const PathSpec& path, const MarkedText& name);

}  // namespace cgrun

#endif  // CGRUN_MODEL_CHECK_MODEL_H_
