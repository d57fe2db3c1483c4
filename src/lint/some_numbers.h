// VisitSomeNumbers(): a sample of a data set's numbers, by which their size is told.
#ifndef CGRUN_LINT_SOME_NUMBERS_H_
#define CGRUN_LINT_SOME_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "src/data/dataset.h"

namespace cgrun {

// Shows the elements of field `field` in at most `most` samples, from all over the set. None of
// samples that cannot be read.
void VisitSomeNumbers(const Dataset& dataset, size_t field, int64_t most,
                      const std::function<void(double)>& visit);

}  // namespace cgrun

#endif  // CGRUN_LINT_SOME_NUMBERS_H_
