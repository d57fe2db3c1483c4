// Which values a plan computes again rather than keep.
#ifndef CGRUN_PLAN_REMAT_H_
#define CGRUN_PLAN_REMAT_H_

#include <string>
#include <vector>

#include "src/ir/remat_plan.h"

namespace cgrun {

// Recompute decisions for the values of these names: their readers of a later phase than their
// producer's read a copy, computed again for them. Values that no later phase reads, that nothing
// produces (inputs, states) or whose producer changes a state are left as they are.
RematPlan RecomputeByName(const Graph& graph, const std::vector<std::string>& names);

}  // namespace cgrun

#endif  // CGRUN_PLAN_REMAT_H_
