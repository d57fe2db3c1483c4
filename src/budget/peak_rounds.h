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
  bool is_final = false;       // what misses it is taken all the same, and is to be quick
};

// How options are ranked.
struct Ranking {
  double emphasis = 1;                         // of bytes (RecomputeLimits)
  std::optional<double> share = std::nullopt;  // of transfers' times (SwapTerms); nothing: none
};

// Whether the goal is reached, then by how much a step takes longer; the peak where it is not. Less
// is better.
using PeakCost = std::pair<Bytes, double>;

// Changes the entry point until its peak is as low as the goal, or as low as it gets, and returns
// what that costs. Nothing where that lowers nothing.
std::optional<PeakCost> LowerPeak(CompiledEntry& entry, const Target& target,
                                  const BudgetOptions& options, const RecomputeGoal& goal,
                                  const Ranking& ranking);

// Has the entry point keep what it recomputes, the dearest first, where its schedule has no more
// than `bytes` alive at any step for it: less time. False where nothing can be kept so.
bool KeepWhatFits(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                  Bytes bytes);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PEAK_ROUNDS_H_
