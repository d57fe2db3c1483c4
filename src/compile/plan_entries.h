// Orders, and one memory layout for all entry points: the planned part of a compile.
#ifndef CGRUN_COMPILE_PLAN_ENTRIES_H_
#define CGRUN_COMPILE_PLAN_ENTRIES_H_

#include <string>
#include <vector>

#include "src/compile/compile.h"

namespace cgrun {

// Gives the entry point the schedule of the order `name`.
void SetOrder(CompiledEntry& entry, const std::string& name);

// The layout of the entry points as they are.
MemoryLayout PlanOnce(const std::vector<CompiledEntry>& entries, const LayoutOptions& options);

// Whether PlanEntries looks for other choices of what runs again where a packing is larger than its
// bound.
bool ClosesGaps(const CompileOptions& options);

// The layout of all entry points, with what is worth it computed again: it is in them, then. `ran`,
// the reports of the planned passes, is told what those did to the first entry point.
MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const CompileOptions& asked, std::vector<PassReport>& ran);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_PLAN_ENTRIES_H_
