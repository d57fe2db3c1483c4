// `cgrun plan --why NAME`: the values that a name stands for, and why they are alive.
#ifndef CGRUN_CLI_PLAN_WHY_H_
#define CGRUN_CLI_PLAN_WHY_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"
#include "src/plan/memory_layout.h"

namespace cgrun {

// Prints it. `name`: of a value, or the end of one name alone ("conv1.weight" of
// "classify.conv1.weight"). Of entry points but the first it tells a line each, unless
// `all_entries`. Throws InputError where there is none, and where there are several.
void TellWhy(const std::vector<PlannedEntry>& entries, const MemoryLayout& layout,
             const std::string& name, bool all_entries);

}  // namespace cgrun

#endif  // CGRUN_CLI_PLAN_WHY_H_
