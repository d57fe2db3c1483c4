// The table of planners, and PlanMemory, the one entry point that callers need: it packs with a
// planner of the table, then checks the result with the independent validator, in every build.
#ifndef CGRUN_PLAN_PLANNER_H_
#define CGRUN_PLAN_PLANNER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/plan/memory_problem.h"

namespace cgrun {

// A pure function of a problem without ProblemFaults. It sets `offsets`, `peak_bytes` and `nodes`.
using PlannerFunction = MemoryPlan (*)(const MemoryProblem&);

struct PlannerEntry {
  std::string_view name;
  PlannerFunction function;
  bool in_portfolio;  // `portfolio` tries it, in the order of the table
  std::string_view doc;
};

// All planners (planners/planner_list.inc).
std::span<const PlannerEntry> Planners();
// Null where there is none of that name.
const PlannerEntry* FindPlanner(std::string_view name);
// For SuggestName().
std::vector<std::string> PlannerNames();

// Packs `problem`, which has no ProblemFaults, with the planner of that name, which exists. The
// plan is valid but for `capacity`, which it may exceed; it carries the lower bound and, where the
// peak meets it, `optimal`. The same problem always gives the same plan.
MemoryPlan PlanMemory(const MemoryProblem& problem, std::string_view planner = "portfolio");

}  // namespace cgrun

#endif  // CGRUN_PLAN_PLANNER_H_
