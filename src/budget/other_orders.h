// Other orders: `memory` needs least of all orders for a graph as it is. With recomputation, or
// where its packing leaves a gap, another order can come lower.
#ifndef CGRUN_BUDGET_OTHER_ORDERS_H_
#define CGRUN_BUDGET_OTHER_ORDERS_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// The lowest of the plans in any order, with recomputation. Gaps are closed of each that may become
// the lowest.
MemoryLayout PlanInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const Target& target, const BudgetOptions& options);

// Does the same without recomputation.
MemoryLayout PackInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const BudgetOptions& options);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_OTHER_ORDERS_H_
