// Local improvement of an order, where its memory peaks.
#ifndef CGRUN_PLAN_ORDERS_IMPROVE_H_
#define CGRUN_PLAN_ORDERS_IMPROVE_H_

#include "src/plan/orders/step_memory.h"
#include "src/plan/schedule.h"

namespace cgrun {

// An order whose peak (PeakOfOrder) is that of `order` or lower. Around the peak it tries, as long
// as one of them helps and the budget lasts,
//   to run later what is made before the peak and read only behind it,
//   to run earlier what frees bytes behind the peak, with all that it waits for,
//   all orders of a window of consecutive nodes: the regions between two nodes that everything
//   passes through, as residual blocks are, lie in one if they are small.
// The budget is counted in nodes that are run, so that the result does not depend on the machine.
NodeOrder ImproveAtPeak(const Graph& graph, const Dependencies& dependencies, NodeOrder order);

// The same of a schedule.
Schedule ImproveAtPeak(const Graph& graph, const Dependencies& dependencies,
                       const Schedule& schedule);

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_IMPROVE_H_
