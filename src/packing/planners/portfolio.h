// Takes the best plan of several planners.
#ifndef CGRUN_PACKING_PLANNERS_PORTFOLIO_H_
#define CGRUN_PACKING_PLANNERS_PORTFOLIO_H_

#include "src/packing/memory_problem.h"
#include "src/packing/planner.h"
#include "src/packing/planners/effort.h"

namespace cgrun {

// The best plan of the orders of the table, `nodes` counting all that were tried: none is once the
// peak is at most `target` or the time of `effort` is over. Its nodes are not counted.
MemoryPlan BestOrder(const MemoryProblem& problem, Bytes target, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_PORTFOLIO_H_
