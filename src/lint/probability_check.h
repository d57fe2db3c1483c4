// Targets that are floats, where a loss takes them for probabilities.
#ifndef CGRUN_LINT_PROBABILITY_CHECK_H_
#define CGRUN_LINT_PROBABILITY_CHECK_H_

#include <vector>

#include "src/base/diagnostics.h"
#include "src/lint/label_check.h"

namespace cgrun {

// Reports one error for each input that a use of kProbabilities reads and that holds numbers
// outside of [0, 1]: with such a target the loss has no least value. It reads only data sets whose
// samples are at hand.
void CheckProbabilities(const std::vector<LabelledSet>& sets, const std::vector<LabelUse>& uses,
                        Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_LINT_PROBABILITY_CHECK_H_
