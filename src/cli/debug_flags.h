// `--debug-sets` and `--debug-sync` on the command line.
#ifndef CGRUN_CLI_DEBUG_FLAGS_H_
#define CGRUN_CLI_DEBUG_FLAGS_H_

#include <memory>
#include <string>

#include "src/cli/model_flags.h"
#include "src/run/debug_run.h"

namespace cgrun {

void AddDebugFlags(const Verb& verb, const std::shared_ptr<RunFlags>& flags);

// Returns null where the run is not to be debugged. `device`: the run's; `profiles`: whether
// operators are timed, too. Says on standard error what makes no difference on this device. Throws
// InputError for eager mode, which has no byte code, and for what excludes each other.
std::unique_ptr<DebugRun> MakeDebugRun(const RunFlags& flags, const std::string& device,
                                       bool profiles);

// Says on standard error what was checked, and prints each finding as an error. Returns whether all
// operators are sound; `debug` may be null.
bool TellDebugRun(const DebugRun* debug);

}  // namespace cgrun

#endif  // CGRUN_CLI_DEBUG_FLAGS_H_
