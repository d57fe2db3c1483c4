#include "src/plan/packing_store.h"

#include "src/packing/pack.h"
#include "src/packing/validator.h"

namespace cgrun {
namespace {

bool IsPlanOf(const MemoryProblem& problem, const MemoryPlan& plan) {
  return plan.lower_bound_bytes >= LowerBound(problem) &&
         ValidateWithoutCapacity(problem, plan, 1).empty();
}

template <class Plan>
MemoryPlan Once(const MemoryProblem& problem, std::string_view planner, PackingStore* store,
                const Plan& make) {
  if (store == nullptr) return make();
  CheckFaultless(problem);
  if (auto kept = store->Find(problem, planner); kept && IsPlanOf(problem, *kept)) return *kept;
  MemoryPlan plan = make();
  if (plan.nodes >= kNodesWorthKeeping) store->Keep(problem, plan);
  return plan;
}

}  // namespace

MemoryPlan PlanMemoryOnce(const MemoryProblem& problem, std::string_view planner,
                          PackingStore* store) {
  return Once(problem, planner, store, [&] { return PlanMemory(problem, planner); });
}

MemoryPlan PackOnce(const MemoryProblem& problem, PackingStore* store) {
  return Once(problem, kLongSearch, store, [&] {
    MemoryPlan plan = Pack(problem).plan;
    plan.planner = kLongSearch;
    return plan;
  });
}

}  // namespace cgrun
