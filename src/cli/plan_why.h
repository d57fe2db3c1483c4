// `cgrun plan --why NAME`: the values that a name stands for, and why they are alive.
#ifndef CGRUN_CLI_PLAN_WHY_H_
#define CGRUN_CLI_PLAN_WHY_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/plan/memory_layout.h"

namespace cgrun {

// Prints why a value lies where it does. `name` is one of those for --keep (FindNamedValue), the
// name of a value that passes have made, or the end of just one name. Entry points after the first
// have a line each, unless `all_entries` is set. `model` and `options` are those that were
// compiled. Throws InputError where no value has the name, and where several have it.
void TellWhy(const std::vector<PlannedEntry>& entries, const MemoryLayout& layout,
             const std::string& name, bool all_entries, const ModelSpec& model,
             const CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_WHY_H_
