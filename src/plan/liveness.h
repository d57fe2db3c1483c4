// Liveness: from which step to which step each value of a scheduled graph is needed.
#ifndef CGRUN_PLAN_LIVENESS_H_
#define CGRUN_PLAN_LIVENESS_H_

#include "src/plan/alias_model.h"

namespace cgrun {

struct Liveness {
  TimePoint steps = 1;  // of the schedule; 1 for an empty one, so that what is fed lives
  IdVector<ValueId, Lifespan> values;
};

// A value lives from its producer to its last reader; a placeholder from step 0; state and
// constants always; outputs of the graph to the end; what nothing reads, while its producer runs.
// `incremental`: the program is to run in part, so that what is kept between runs lives always.
Liveness ComputeLiveness(const Graph& graph, const Schedule& schedule, bool incremental = false);

// The step at which each state is overwritten by its update; the number of steps for one that is
// not, and for what is no state. A view of a state changes with it.
IdVector<ValueId, TimePoint> ChangeTimes(const Graph& graph, const Schedule& schedule);

// Returns the value that `value` views, through all views of views, or `value` itself.
ValueId ViewedValue(const Graph& graph, ValueId value);

}  // namespace cgrun

#endif  // CGRUN_PLAN_LIVENESS_H_
