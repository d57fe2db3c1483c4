// Networks and blocks of a model file that nothing uses.
#ifndef CGRUN_FRONTEND_UNUSED_PARTS_H_
#define CGRUN_FRONTEND_UNUSED_PARTS_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

// Warns of each such network and block.
void WarnOfUnusedParts(const ModelSpec& model, Diagnostics& diagnostics);

// Reports errors in the names of their operators, as no path brings these errors to light.
void CheckUnusedParts(const ModelSpec& model, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_FRONTEND_UNUSED_PARTS_H_
