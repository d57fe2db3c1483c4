// Gaps: where a packing is larger than its lower bound, other choices of what is recomputed
// can pack better.
#ifndef CGRUN_BUDGET_CLOSE_GAP_H_
#define CGRUN_BUDGET_CLOSE_GAP_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// Returns whether WithoutGap looks for other choices.
bool ClosesGaps(const BudgetOptions& options);

// Returns a layout as little above its bound as is found.
MemoryLayout WithoutGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const BudgetOptions& options);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_CLOSE_GAP_H_
