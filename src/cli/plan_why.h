// `cgrun plan --why NAME`: the values that a name stands for, and why they are alive.
#ifndef CGRUN_CLI_PLAN_WHY_H_
#define CGRUN_CLI_PLAN_WHY_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/plan/memory_layout.h"

namespace cgrun {

// Prints it. `name`: as for --keep (FindNamedValue), or of a value that passes have made, or the
// end of one name alone. Of entry points but the first it tells a line each, unless `all_entries`.
// `model`, `options`: what was compiled. Throws InputError where there is none, and where there are
// several.
void TellWhy(const std::vector<PlannedEntry>& entries, const MemoryLayout& layout,
             const std::string& name, bool all_entries, const ModelSpec& model,
             const CompileOptions& options);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_WHY_H_
