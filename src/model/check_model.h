// What can only be checked with the whole file at hand: names that must be there, names that must
// not be there twice. CheckModel() is the entry point.
#ifndef CGRUN_MODEL_CHECK_MODEL_H_
#define CGRUN_MODEL_CHECK_MODEL_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"

namespace cgrun {

void CheckModel(const ModelSpec& model, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_CHECK_MODEL_H_
