// Planning a problem part by part, where time falls apart.
#ifndef CGRUN_PLAN_PLANNERS_PARTS_H_
#define CGRUN_PLAN_PLANNERS_PARTS_H_

#include "src/plan/memory_problem.h"

namespace cgrun {

// Plans one part. No effort is worth its while once the peak is at most `target`.
using PartPlanner = MemoryPlan (*)(const MemoryProblem& part, Bytes target);

// The plans of the time-disconnected parts as one. The target is what no plan of the whole can
// beat: its lower bound, or what an earlier part needs.
MemoryPlan PlanByParts(const MemoryProblem& problem, PartPlanner planner);

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNERS_PARTS_H_
