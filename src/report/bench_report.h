// Prints the benchmark as a table and as JSON.
#ifndef CGRUN_REPORT_BENCH_REPORT_H_
#define CGRUN_REPORT_BENCH_REPORT_H_

#include <map>
#include <string>

#include "src/results/bench_result.h"

namespace cgrun {

// Maps the name of a case to its profile, a JSON object.
using CaseProfiles = std::map<std::string, std::string>;

std::string BenchText(const BenchResult& result);
std::string BenchJson(const BenchResult& result, const CaseProfiles& profiles = {});
// Reads the steps and the case of BenchJson() of a benchmark that had one case. Throws UserError if
// it is no such text.
BenchResult CaseFromJson(const std::string& text);

}  // namespace cgrun

#endif  // CGRUN_REPORT_BENCH_REPORT_H_
