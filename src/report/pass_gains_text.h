// PassGainsText() shows the gains of passes as a table.
#ifndef CGRUN_REPORT_PASS_GAINS_TEXT_H_
#define CGRUN_REPORT_PASS_GAINS_TEXT_H_

#include <string>

#include "src/results/bench_result.h"

namespace cgrun {

// The table and the meaning of its columns; "" where there are no gains.
std::string PassGainsText(const BenchResult& result);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PASS_GAINS_TEXT_H_
