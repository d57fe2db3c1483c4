// Local search over placement sequences (local_search.cc), as a step of other planners.
#ifndef CGRUN_PLAN_PLANNERS_LOCAL_SEARCH_H_
#define CGRUN_PLAN_PLANNERS_LOCAL_SEARCH_H_

#include "src/plan/memory_problem.h"
#include "src/plan/planners/effort.h"

namespace cgrun {

// The best plan that is found within `effort`, a node a placement; ends at `target`.
MemoryPlan SearchLocally(const MemoryProblem& problem, Bytes target, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_LOCAL_SEARCH_H_
