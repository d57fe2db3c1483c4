// Every greedy order, then searches, until the bound is met or the effort is over.
#ifndef CGRUN_PACKING_PLANNERS_SEARCH_H_
#define CGRUN_PACKING_PLANNERS_SEARCH_H_

#include "src/packing/memory_problem.h"
#include "src/packing/planners/effort.h"

namespace cgrun {

// Sets offsets, peak_bytes, nodes, and lower_bound_bytes where a search has proved more than
// LowerBound() says (0 else). The orders are tried in any case; where the time is over, the first.
MemoryPlan PlanWithin(const MemoryProblem& problem, Effort& effort);

// The searches alone: lowers `plan`, a plan of `problem`, where that can be done, raises its bound
// where that is proved, and adds the nodes.
void Improve(const MemoryProblem& problem, MemoryPlan& plan, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_SEARCH_H_
