// Strategies under a cap on the arena: recomputation, swaps and smaller workspaces, whatever time
// they take, until the packing fits.
#ifndef CGRUN_BUDGET_FIT_CAP_H_
#define CGRUN_BUDGET_FIT_CAP_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// Limits what a search may spend on the way to a cap.
struct SearchEffort {
  int packings = 1;
  int64_t nodes = 0, nodes_again = 0;  // of the first search and of others; 0: none
  bool is_final = false;               // RecomputeGoal
};

// Counts the schedules that SearchKept() looks at on the way to a cap, in nodes. 30 million take
// about a second.
inline constexpr int64_t kNodesSearched = 30'000'000;
inline constexpr int64_t kNodesSearchedAgain = 10'000'000;  // if a packing has left gaps

// Plans within options.arena_cap, with anything recomputed that helps. The packing is the judge: if
// it leaves gaps, the next try aims lower by as much. If no plan fits, the result is the smallest
// arena that was found.
MemoryLayout PlanWithin(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const BudgetOptions& options,
                        const SearchEffort& effort);

// The same, in full with the search for what takes least time, unless no plan of that packs.
MemoryLayout PlanWithinCap(std::vector<CompiledEntry>& entries, const MemoryLayout& layout,
                           const Target& target, const BudgetOptions& options);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_FIT_CAP_H_
