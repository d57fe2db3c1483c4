// The portfolio: every greedy order, then searches, until the bound is met or the effort is over.
#ifndef CGRUN_PLAN_PLANNERS_PORTFOLIO_H_
#define CGRUN_PLAN_PLANNERS_PORTFOLIO_H_

#include "src/plan/memory_problem.h"
#include "src/plan/planners/effort.h"

namespace cgrun {

// The best plan of any order that the table of planners marks for the portfolio, chosen for each
// time-disconnected part.
MemoryPlan PlanInBestOrder(const MemoryProblem& problem);

// That, and what searching makes of it. Sets offsets, peak_bytes, nodes, and lower_bound_bytes
// where a search has proved more than LowerBound() says (0 else). The orders are tried in any case.
MemoryPlan PlanWithin(const MemoryProblem& problem, Effort& effort);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_PORTFOLIO_H_
