// The gain of each pass, from a benchmark that leaves out one pass at a time (`bench --passes`).
#ifndef CGRUN_BENCH_PASS_GAINS_H_
#define CGRUN_BENCH_PASS_GAINS_H_

#include <vector>

#include "src/results/bench_result.h"

namespace cgrun {

// In the order of the pipeline. The result is empty where the benchmark is of other cases; a case
// that failed has no gain.
std::vector<PassGain> PassGainsOf(const BenchResult& result);

}  // namespace cgrun

#endif  // CGRUN_BENCH_PASS_GAINS_H_
