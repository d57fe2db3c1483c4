// `cgrun bench --dry-run`: the cases as they were built, as text and as JSON.
#ifndef CGRUN_CLI_BENCH_DRY_RUN_H_
#define CGRUN_CLI_BENCH_DRY_RUN_H_

#include <string>
#include <vector>

#include "src/bench/bench.h"

namespace cgrun {

// `cases` and `result.cases` go together. Eager cases have no memory to tell: no step was run.
std::string BenchDryRunText(const BenchResult& result, const std::vector<BenchCase>& cases);
std::string BenchDryRunJson(const BenchResult& result, const std::vector<BenchCase>& cases);

}  // namespace cgrun

#endif  // CGRUN_CLI_BENCH_DRY_RUN_H_
