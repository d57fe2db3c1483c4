// One way to a lower peak: rounds, each of which takes the best options at the fullest step.
#ifndef CGRUN_BUDGET_PEAK_ROUNDS_H_
#define CGRUN_BUDGET_PEAK_ROUNDS_H_

#include <optional>
#include <utility>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

struct RecomputeGoal {
  double share = 0;  // of a step's time, that may be spent
  Bytes bytes = 0;   // transient; no more is done once they are reached
  bool may_swap = false;
  int64_t nodes_searched = 0;  // of schedules, for less time with as few bytes (kept_search.h)
  bool is_final = false;       // a plan that misses it is taken all the same, and is to be quick
};

// Says how options are ranked.
struct Ranking {
  double emphasis = 1;                         // of bytes (RecomputeLimits)
  std::optional<double> share = std::nullopt;  // of transfers' times (SwapTerms); nothing: none
};

// Costs are compared as pairs, and less is better. If the goal is missed, the cost is the peak. If
// it is reached, the cost is how much longer a step takes.
using PeakCost = std::pair<Bytes, double>;

// Changes the entry point until its peak is as low as the goal, or as low as it gets. Returns the
// cost. If nothing gets lower, the result is empty.
std::optional<PeakCost> LowerPeak(CompiledEntry& entry, const Target& target,
                                  const BudgetOptions& options, const RecomputeGoal& goal,
                                  const Ranking& ranking);

// Undoes recomputations, the dearest first, as long as no more than `bytes` are alive at any step
// of the schedule. This saves time. Returns false if none can be undone.
bool KeepWhatFits(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                  Bytes bytes);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PEAK_ROUNDS_H_
