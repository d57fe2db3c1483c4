// Liveness: from which step to which step each value of a scheduled graph is needed.
#ifndef CGRUN_PLAN_LIVENESS_H_
#define CGRUN_PLAN_LIVENESS_H_

#include "src/plan/memory_problem.h"
#include "src/plan/schedule.h"

namespace cgrun {

// Half-open: written from step `lower` on or before, read until step `upper` begins.
struct Lifespan {
  TimePoint lower = 0;
  TimePoint upper = 0;
};

struct Liveness {
  TimePoint steps = 1;  // of the schedule; 1 for an empty one, so that what is fed lives
  IdVector<ValueId, Lifespan> values;
  // Of a program that runs in part: what lies untouched between runs (KeptBetweenRuns). Else none.
  IdVector<ValueId, bool> kept;
};

// A value lives from its producer to its last reader; a placeholder from step 0; state and
// constants always; outputs of the graph to the end; what nothing reads, while its producer runs.
// `incremental`: the program is to run in part, so that what is kept between runs lives always.
Liveness ComputeLiveness(const Graph& graph, const Schedule& schedule, bool incremental = false);

}  // namespace cgrun

#endif  // CGRUN_PLAN_LIVENESS_H_
