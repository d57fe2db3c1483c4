// An order or a packing, with the time that it takes.
#include "src/budget/plan_once.h"

#include "src/base/check.h"
#include "src/base/phase_times.h"

namespace cgrun {

MemoryLayout PlanOnce(const std::vector<CompiledEntry>& entries, const LayoutOptions& options) {
  const PhaseTimer timer("plan");
  std::vector<PlannedEntry> planned;
  for (const CompiledEntry& entry : entries) {
    planned.push_back({entry.request.name, &entry.graph, &entry.schedule});
  }
  return PlanLayout(planned, options);
}

void SetOrder(CompiledEntry& entry, const std::string& name) {
  const PhaseTimer timer("order");
  const OrderEntry* order = FindOrder(name);
  CGRUN_CHECK(order != nullptr) << "no order " << name;
  const Dependencies dependencies = DependenciesOf(entry.graph);
  entry.schedule = order->function(entry.graph, dependencies);
  const std::vector<std::string> violations =
      VerifySchedule(entry.graph, dependencies, entry.schedule);
  CGRUN_CHECK(violations.empty()) << "order " << name << ": " << violations[0];
}

MemoryLayout Packed(const std::vector<CompiledEntry>& entries, MemoryLayout layout,
                    const LayoutOptions& options) {
  if (layout.planner == options.planner) return layout;
  MemoryLayout packed = PlanOnce(entries, options);
  packed.recompute_saved_bytes = layout.recompute_saved_bytes;
  return packed;
}

BudgetOptions WithQuickPlanner(BudgetOptions options) {
  options.layout.planner = kQuickPlanner;
  return options;
}

}  // namespace cgrun
