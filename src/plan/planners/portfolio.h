// Takes the best plan of several planners.
#ifndef CGRUN_PLAN_PLANNERS_PORTFOLIO_H_
#define CGRUN_PLAN_PLANNERS_PORTFOLIO_H_

#include "src/plan/memory_problem.h"
#include "src/plan/planner.h"
#include "src/plan/planners/effort.h"

namespace cgrun {

// The best plan of the orders of the table, `nodes` counting all that were tried: none is once the
// peak is at most `target` or the time of `effort` is over. Its nodes are not counted.
MemoryPlan BestOrder(const MemoryProblem& problem, Bytes target, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_PORTFOLIO_H_
