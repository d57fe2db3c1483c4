// The sentences about runs under a cap: what such a run takes, what it costs, and what would help.
#ifndef CGRUN_CLI_CAPPED_RUN_TEXT_H_
#define CGRUN_CLI_CAPPED_RUN_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/fit/fit_run.h"

namespace cgrun {

// Returns whether a smaller cap is enough for the found run: it has a smaller arena, or no streams.
// Measured fixed memory differs too much to count.
bool TakesLess(const CappedRun& fit);

// "for steps that take at most 18 % longer"
std::string CostOf(double slower);
// The same for what the cap would cost. "with operators one by one" where that alone is given up.
std::string CostOf(const CappedRun& fit);

// "classify.conv1 12.0 MiB, …": what holds most of the arena at its peak.
std::string HoldersOf(const PlannedRun& run);

// "the run takes 12.6 MiB, more than the cap of 8.00 MiB", and a table of the parts. `what` is the
// subject and its verb; `limit` is RunLimit::name().
std::string RefusalOf(const std::string& what, const CappedRun& fit, const std::string& limit);

// "cap: 243 MiB of 245 MiB, instead of 262 MiB: …": how a run keeps its cap, and what that costs.
std::string FitText(const CappedRun& fit);

// Lines of help, one under the other; empty ones are left out.
std::string LinesOf(const std::vector<std::string>& lines);

}  // namespace cgrun

#endif  // CGRUN_CLI_CAPPED_RUN_TEXT_H_
