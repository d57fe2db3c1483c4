// The table of planners, and PlanMemory, the one entry point that callers need: it packs with a
// planner of the table, then checks the result with the independent validator, in every build.
#ifndef CGRUN_PACKING_PLANNER_H_
#define CGRUN_PACKING_PLANNER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/packing/memory_problem.h"

namespace cgrun {

// Nodes of planner `search` where nothing else is said: a fraction of a second on a few hundred
// buffers, and the same plan whatever the machine.
inline constexpr int64_t kSearchNodes = 600'000;

// A pure function of a problem without ProblemFaults. It sets `offsets`, `peak_bytes` and `nodes`,
// and `lower_bound_bytes` where it has proved more than LowerBound() says.
using PlannerFunction = MemoryPlan (*)(const MemoryProblem&);

// `greedy` takes the best of all orders, `search` starts with them; both try them in the order of
// the table.
enum class PlannerRole { kOrder, kAlone };

struct PlannerEntry {
  std::string_view name;
  PlannerFunction function;
  PlannerRole role;
  std::string_view doc;
};

// Lists all planners (planners/planner_list.inc).
std::span<const PlannerEntry> Planners();
// Returns null where there is none of that name.
const PlannerEntry* FindPlanner(std::string_view name);
// For SuggestName().
std::vector<std::string> PlannerNames();

// Packs `problem`, which has no ProblemFaults, with the planner of that name, which exists. The
// plan is valid but for `capacity`, which it may exceed; it carries the lower bound and, where the
// peak meets it, `optimal`. The same problem always gives the same plan.
MemoryPlan PlanMemory(const MemoryProblem& problem, std::string_view planner = "portfolio");

// Every planner runs between these two checks. If a problem has a fault, or the validator objects
// to a plan, the bug is ours. FinishPlan also sets the bound and `optimal`.
void CheckFaultless(const MemoryProblem& problem);
void FinishPlan(const MemoryProblem& problem, MemoryPlan& plan);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNER_H_
