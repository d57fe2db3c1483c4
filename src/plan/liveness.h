// Liveness: from which step to which step each value of a scheduled graph is needed.
#ifndef CGRUN_PLAN_LIVENESS_H_
#define CGRUN_PLAN_LIVENESS_H_

#include "src/plan/alias_model.h"

namespace cgrun {

struct Liveness {
  TimePoint steps = 1;  // of the schedule; 1 for an empty one, so that what is fed lives
  IdVector<ValueId, Lifespan> values;
};

// Each value lives from its producer to its last reader. A placeholder lives from step 0, state and
// constants live always, and outputs of the graph live to the end. If nothing reads a value, it
// lives while its producer runs. If `incremental` is set, the program is to run in part, and values
// that are kept between runs live always.
Liveness ComputeLiveness(const Graph& graph, const Schedule& schedule, bool incremental = false);

// Returns the step at which each state is overwritten by its update. For a state that is not
// overwritten, and for a value that is no state, it is the number of steps. A view of a state
// changes with it.
IdVector<ValueId, TimePoint> ChangeTimes(const Graph& graph, const Schedule& schedule);

// Returns the value that `value` views, through all views of views, or `value` itself.
ValueId ViewedValue(const Graph& graph, ValueId value);

}  // namespace cgrun

#endif  // CGRUN_PLAN_LIVENESS_H_
