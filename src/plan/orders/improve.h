// Improves an order locally, where its memory peaks.
#ifndef CGRUN_PLAN_ORDERS_IMPROVE_H_
#define CGRUN_PLAN_ORDERS_IMPROVE_H_

#include "src/plan/orders/step_memory.h"
#include "src/plan/schedule.h"

namespace cgrun {

// Returns an order whose peak is that of `order` or lower. Around the peak it makes
// these changes, as long as one of them helps and the budget lasts:
//   It runs later what is made before the peak and read only behind it.
//   It runs earlier what frees bytes behind the peak, with all that this waits for.
//   It tries all orders of a window of consecutive nodes. A region between two nodes that
//   everything passes through, such as a residual block, lies in one window if it is small.
// The budget is counted in nodes that are run, so that the result does not depend on the machine.
NodeOrder ImproveAtPeak(const Graph& graph, const Dependencies& dependencies, NodeOrder order);

// Does the same for a schedule.
Schedule ImproveAtPeak(const Graph& graph, const Dependencies& dependencies,
                       const Schedule& schedule);

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_IMPROVE_H_
