// Labels that seem to be misspelt, or are rare: where there are more names than classes.
#ifndef CGRUN_LINT_LABEL_MISSPELLING_H_
#define CGRUN_LINT_LABEL_MISSPELLING_H_

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/lint/label_check.h"

namespace cgrun {

// Where names are too many classes for a use: reports those that seem misspelt where it has enough
// without them, else all with their counts where some are rare. Whether it is so.
bool ReportMisspellings(const Dataset& dataset, size_t field, const LabelUse& use,
                        Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_LABEL_MISSPELLING_H_
