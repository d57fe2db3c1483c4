// Classes whose names seem to be misspelt: where there are more names than classes.
#ifndef CGRUN_TRAIN_LABEL_MISSPELLING_H_
#define CGRUN_TRAIN_LABEL_MISSPELLING_H_

#include "src/base/diagnostics.h"
#include "src/data/dataset.h"
#include "src/train/label_check.h"

namespace cgrun {

// Where names are too many classes for a use, and would not be without those that seem misspelt:
// reports these. Whether it is so.
bool ReportMisspellings(const Dataset& dataset, size_t field, const LabelUse& use,
                        Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_TRAIN_LABEL_MISSPELLING_H_
