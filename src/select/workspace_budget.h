// The memory that a kernel may take to be faster than another.
#ifndef CGRUN_SELECT_WORKSPACE_BUDGET_H_
#define CGRUN_SELECT_WORKSPACE_BUDGET_H_

#include "src/ir/graph.h"

namespace cgrun {

// The largest sum of operands of a node in a bound graph, and a sixteenth of that, in bytes. States
// and constants do not count. The budget depends only on the graph. So neither an order nor a cap
// changes a choice of kernels, and no bit.
int64_t WorkspaceBudget(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_SELECT_WORKSPACE_BUDGET_H_
