// This file holds the planner table and the entry point that checks plans.
#include "src/packing/planner.h"

#include <algorithm>

#include "src/base/check.h"
#include "src/packing/validator.h"

namespace cgrun {

#define PLANNER(name, function, role, doc) MemoryPlan function(const MemoryProblem&);
#include "src/packing/planners/planner_list.inc"
#undef PLANNER

namespace {

constexpr PlannerEntry kPlanners[] = {
#define PLANNER(name, function, role, doc) {#name, function, PlannerRole::role, doc},
#include "src/packing/planners/planner_list.inc"
#undef PLANNER
};

}  // namespace

std::span<const PlannerEntry> Planners() { return kPlanners; }

const PlannerEntry* FindPlanner(std::string_view name) {
  for (const PlannerEntry& entry : kPlanners) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> PlannerNames() {
  std::vector<std::string> names;
  for (const PlannerEntry& entry : kPlanners) names.emplace_back(entry.name);
  return names;
}

MemoryPlan PlanMemory(const MemoryProblem& problem, std::string_view planner) {
  const PlannerEntry* entry = FindPlanner(planner);
  CGRUN_CHECK(entry != nullptr) << "no planner is called " << planner;
  CheckFaultless(problem);
  MemoryPlan plan = entry->function(problem);
  plan.planner = planner;
  FinishPlan(problem, plan);
  return plan;
}

void CheckFaultless(const MemoryProblem& problem) {
  const std::vector<ProblemFault> faults = ProblemFaults(problem, 1);
  CGRUN_CHECK(faults.empty()) << faults.front().message;
}

void FinishPlan(const MemoryProblem& problem, MemoryPlan& plan) {
  plan.lower_bound_bytes = std::max(plan.lower_bound_bytes, LowerBound(problem));
  plan.optimal = plan.peak_bytes == plan.lower_bound_bytes;
  // A capacity that the peak exceeds is the user's to solve; everything else would be our bug.
  const std::vector<Violation> violations = ValidateWithoutCapacity(problem, plan);
  CGRUN_CHECK(violations.empty()) << "planner " << plan.planner << ":\n" << ToString(violations);
}

}  // namespace cgrun
