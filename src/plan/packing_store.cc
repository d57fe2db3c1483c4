#include "src/plan/packing_store.h"

#include "src/plan/validator.h"

namespace cgrun {
namespace {

bool IsPlanOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  MemoryProblem unlimited = problem;
  unlimited.capacity.reset();
  return plan.lower_bound_bytes >= LowerBound(problem) && ValidatePlan(unlimited, plan, 1).empty();
}

}  // namespace

MemoryPlan PlanMemoryOnce(const MemoryProblem& problem, std::string_view planner,
                          PackingStore* store) {
  if (store == nullptr) return PlanMemory(problem, planner);
  CheckFaultless(problem);
  if (auto kept = store->Find(problem, planner); kept && IsPlanOf(problem, *kept)) return *kept;
  MemoryPlan plan = PlanMemory(problem, planner);
  if (plan.nodes >= kNodesWorthKeeping) store->Keep(problem, plan);
  return plan;
}

}  // namespace cgrun
