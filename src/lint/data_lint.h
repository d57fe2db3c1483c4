// Opens the data of a model and warns of numbers that are too large to be learned from.
#ifndef CGRUN_LINT_DATA_LINT_H_
#define CGRUN_LINT_DATA_LINT_H_

#include "src/base/diagnostics.h"
#include "src/model/model_spec.h"
#include "src/model_data/model_data.h"

namespace cgrun {

// OpenModelData(), with WarnOfFeatureSizes() of training data that fit the model.
ModelData OpenAndLintData(const ModelSpec& model, Diagnostics& diagnostics,
                          MissingFiles missing = MissingFiles::kAreErrors,
                          const DataFindings* kept = nullptr, DataCap cap = DataCap::kOfRun);

}  // namespace cgrun

#endif  // CGRUN_LINT_DATA_LINT_H_
