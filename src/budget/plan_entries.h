// The driver of all strategies: orders, and one memory layout for all entry points. Without a cap
// other_orders.h looks for the lowest plan that costs little time; with one, fit_cap.h looks for a
// plan that fits.
#ifndef CGRUN_BUDGET_PLAN_ENTRIES_H_
#define CGRUN_BUDGET_PLAN_ENTRIES_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// The layout of all entry points. Their graphs and schedules get what the strategies decide. `ran`,
// the reports of the planned passes, is told what those did to the first entry point.
MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const BudgetOptions& asked, std::vector<PassReport>& ran);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PLAN_ENTRIES_H_
