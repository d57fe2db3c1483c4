// Recomputation that the user asks for, by the names of values.
#ifndef CGRUN_PLAN_RECOMPUTE_BY_NAME_H_
#define CGRUN_PLAN_RECOMPUTE_BY_NAME_H_

#include <string>
#include <vector>

#include "src/ir/graph.h"
#include "src/ir/remat_plan.h"

namespace cgrun {

// Decisions to recompute the values of these names. Their readers of a later phase than the
// producer's read the recomputed value. A value is left as it is if no later phase reads it, if
// nothing produces it, or if its producer cannot be recomputed.
RematPlan RecomputeByName(const Graph& graph, const std::vector<std::string>& names);

}  // namespace cgrun

#endif  // CGRUN_PLAN_RECOMPUTE_BY_NAME_H_
