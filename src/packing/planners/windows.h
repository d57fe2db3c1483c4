// Lowers a plan where it is too high: what is alive around those sections is placed anew by tree
// search, everything else stays where it is. For problems that are too large to search as a whole.
#ifndef CGRUN_PACKING_PLANNERS_WINDOWS_H_
#define CGRUN_PACKING_PLANNERS_WINDOWS_H_

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"
#include "src/packing/planners/time_sections.h"

namespace cgrun {

// Tries to bring `plan` down to `capacity`, window by window, with at most `nodes` nodes for each.
// True, with the new offsets and peak in `plan`, where all that was above it could be moved below;
// else the plan stays.
bool LowerByWindows(const MemoryProblem& problem, const TimeSections& sections, Bytes capacity,
                    int64_t nodes, MemoryPlan& plan, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_WINDOWS_H_
