// What each pass gains, out of a benchmark that leaves out one at a time (`bench --passes`): the
// graph without it, held against the graph with all.
#ifndef CGRUN_CLI_PASS_GAINS_H_
#define CGRUN_CLI_PASS_GAINS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/bench/bench.h"

namespace cgrun {

struct PassGain {
  std::string pass;
  int64_t bytes = 0;                    // that the peak is lower by
  std::optional<Speedup> speedup = {};  // of the graph with it; nothing where it was not timed
  bool changes_nothing = false;         // the program is the same without it, so that nothing ran
};

// In the order of the pipeline. Empty where the benchmark is of other cases; a case that failed has
// no gain.
std::vector<PassGain> PassGainsOf(const BenchResult& result);

// As a table with what its columns say; "" where there is nothing to show.
std::string PassGainsText(const BenchResult& result);

}  // namespace cgrun

#endif  // CGRUN_CLI_PASS_GAINS_H_
