// Pack runs planner `search` within a budget and checks the plan.
#include "src/packing/pack.h"

#include <limits>

#include "src/packing/planners/effort.h"
#include "src/packing/planners/search.h"

namespace cgrun {

Packing Pack(const MemoryProblem& problem, const PackBudget& budget) {
  CheckFaultless(problem);
  const int64_t nodes = budget.seconds ? std::numeric_limits<int64_t>::max() : budget.nodes;
  Effort effort(nodes, budget.seconds);
  Packing packing;
  packing.plan = PlanWithin(problem, effort);
  packing.plan.planner = "search";
  FinishPlan(problem, packing.plan);
  packing.verdict = VerdictOf(problem, packing.plan);
  return packing;
}

Verdict VerdictOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  if (!plan.optimal) return Verdict::kGap;
  return plan.peak_bytes == LowerBound(problem) ? Verdict::kBoundMet : Verdict::kExhausted;
}

}  // namespace cgrun
