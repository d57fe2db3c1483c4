// Networks and blocks of a model file that nothing uses.
#ifndef CGRUN_FRONTEND_UNUSED_PARTS_H_
#define CGRUN_FRONTEND_UNUSED_PARTS_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// A warning for each.
void WarnOfUnusedParts(const ModelSpec& model, Diagnostics& diagnostics);

// Errors of their operators' names: no path brings them to light.
void CheckUnusedParts(const ModelSpec& model, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_UNUSED_PARTS_H_
