// Tries all orders of a few consecutive nodes.
#ifndef CGRUN_PLAN_ORDERS_WINDOW_SEARCH_H_
#define CGRUN_PLAN_ORDERS_WINDOW_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/plan/orders/step_memory.h"
#include "src/plan/schedule.h"

namespace cgrun {

inline constexpr size_t kMostWindowNodes = 16;

// Puts `window` into the order that has the lowest peak of all, if that is below `limit`; true
// then. All that runs before the window has run in `memory`, which is left as it was. Each node
// that is tried costs one of `budget`; where that ends, the best order so far counts.
bool FindWindowOrder(const Dependencies& dependencies, Bytes limit, StepMemory& memory,
                     std::span<NodeId> window, int64_t& budget);

}  // namespace cgrun

#endif  // CGRUN_PLAN_ORDERS_WINDOW_SEARCH_H_
