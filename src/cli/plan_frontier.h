// `cgrun plan --frontier`.
#ifndef CGRUN_CLI_PLAN_FRONTIER_H_
#define CGRUN_CLI_PLAN_FRONTIER_H_

#include "src/compile/frontier.h"

namespace cgrun {

// Prints memory against time for the plans of a run. Returns false after an error, which
// `diagnostics` holds.
bool TellFrontier(const ModelSpec& model, const std::vector<EntryRequest>& entries,
                  const KernelLibrary& library, const CompileOptions& options,
                  Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_FRONTIER_H_
