// Recomputation and swaps at the peak: the ways of peak_rounds.h are tried with several rankings,
// and a search among all choices goes on from the best.
#ifndef CGRUN_BUDGET_RECOMPUTE_AT_PEAK_H_
#define CGRUN_BUDGET_RECOMPUTE_AT_PEAK_H_

#include <optional>

#include "src/budget/peak_rounds.h"

namespace cgrun {

// The entry point with recomputation of what its schedule would keep at the peak, right before the
// later readers. It recomputes the least with which the peak is as low as the goal, or as low as it
// gets. Swaps compete with that where the goal and the options allow them; on the way to a final
// goal smaller workspaces do. Results keep their bits. Returns nothing where that lowers nothing.
std::optional<CompiledEntry> RecomputedAtPeak(const CompiledEntry& entry, const Target& target,
                                              const BudgetOptions& options,
                                              const RecomputeGoal& goal);

// This does the same in place. Returns false if nothing was gained.
bool RecomputeAtPeak(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                     const RecomputeGoal& goal);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_RECOMPUTE_AT_PEAK_H_
