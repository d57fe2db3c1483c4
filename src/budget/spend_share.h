// Strategies without a cap: what is cheap is recomputed, within the share of a step that
// the options allow.
#ifndef CGRUN_BUDGET_SPEND_SHARE_H_
#define CGRUN_BUDGET_SPEND_SHARE_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// Plans anew with what is cheap recomputed, for the entry points that take most, then with the
// search that caps have for arenas a little lower. Keeps what makes the arena smaller. `layout` may
// be packed by kQuickPlanner: a plan below its bound is better than any packing of it, so none is
// looked for.
MemoryLayout PlanLower(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                       const Target& target, const BudgetOptions& options);
// Does the first of the two alone.
MemoryLayout PlanWithLess(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                          const Target& target, const BudgetOptions& options);

// Returns whether no entry point spends a larger share for less memory than before, or than
// `share`.
bool TakesNoLonger(const std::vector<CompiledEntry>& tried,
                   const std::vector<CompiledEntry>& entries, double share);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_SPEND_SHARE_H_
