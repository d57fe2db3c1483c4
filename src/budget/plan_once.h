// One plan of entry points as they are: what every strategy asks again and again.
#ifndef CGRUN_BUDGET_PLAN_ONCE_H_
#define CGRUN_BUDGET_PLAN_ONCE_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/budget/budget_options.h"

namespace cgrun {

inline constexpr std::string_view kQuickPlanner = "greedy";
inline constexpr std::string_view kMemoryOrder = "memory";

// Gives the entry point the schedule of the order `name`.
void SetOrder(CompiledEntry& entry, const std::string& name);

// The layout of the entry points as they are.
MemoryLayout PlanOnce(const std::vector<CompiledEntry>& entries, const LayoutOptions& options);

// `layout` of the entry points, packed by the planner of `options` if it was by another one.
MemoryLayout Packed(const std::vector<CompiledEntry>& entries, MemoryLayout layout,
                    const LayoutOptions& options);

BudgetOptions WithQuickPlanner(BudgetOptions options);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PLAN_ONCE_H_
