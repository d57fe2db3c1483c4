// PlanEntries: the orders as they are, then what the plan wants recomputed, then the strategies.
#include "src/budget/plan_entries.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/budget/fit_cap.h"
#include "src/budget/other_orders.h"
#include "src/budget/plan_once.h"
#include "src/budget/planned_reports.h"
#include "src/budget/spend_share.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxRematRounds = 4;

// Plans, and plans anew as long as the plan wants values to be recomputed (RecomputeByName()).
// `ran` is told what the passes for that did to the first entry point.
MemoryLayout PlanAsWanted(std::vector<CompiledEntry>& entries, const Target& target,
                          const BudgetOptions& options, std::vector<PassReport>& ran) {
  MemoryLayout layout = PlanOnce(entries, options.layout);
  bool changed = true;
  for (int round = 0; round < kMaxRematRounds && changed; ++round) {
    changed = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const RematPlan& remat = layout.entries[i].remat;
      if (remat.empty()) continue;
      const PassContext context{target, false, &remat, entries[i].request.batch, options.threads};
      const auto reports =
          RunPasses(entries[i].graph, context, options.passes, PassStage::kPlanned);
      if (i == 0) AddUp(reports, ran);
      SetOrder(entries[i], options.order);
      changed = true;
    }
    if (changed) layout = PlanOnce(entries, options.layout);
  }
  return layout;
}

BudgetOptions WithPlannerOfEffort(BudgetOptions options) {
  const bool is_default = options.layout.planner == LayoutOptions().planner;
  if (options.effort == PlanEffort::kQuick && is_default) options.layout.planner = kQuickPlanner;
  return options;
}

MemoryLayout PlanWithRecompute(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                               const Target& target, const BudgetOptions& options) {
  if (options.arena_cap == 0) return PlanInAnyOrder(entries, std::move(layout), target, options);
  layout = PlanWithLess(entries, std::move(layout), target, options);
  if (layout.arena_bytes <= options.arena_cap) return layout;
  return PlanWithinCap(entries, layout, target, options);
}

int CountTransfers(const Graph& graph) {
  return static_cast<int>(
      std::ranges::count_if(graph.nodes, [](const Node& node) { return IsTransfer(node.op); }));
}

int CountOthers(const Graph& graph) {
  return static_cast<int>(graph.nodes.size()) - CountTransfers(graph);
}

}  // namespace

MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const BudgetOptions& asked, std::vector<PassReport>& ran) {
  BudgetOptions options = WithPlannerOfEffort(asked);
  const bool recomputes = !options.passes.Disabled(kRematerialisePass);
  if (!recomputes) options.recompute_share = 0;
  const bool lowers = recomputes || MaySwap(options) || MayUseSmallerWorkspaces(options);
  MemoryLayout layout =
      PlanAsWanted(entries, target, lowers ? WithQuickPlanner(options) : options, ran);
  if (!lowers) return PackInAnyOrder(entries, std::move(layout), options);
  const Graph& graph = entries[0].graph;
  const int transfers = CountTransfers(graph), others = CountOthers(graph);
  const Clock::time_point start = Clock::now();
  layout = PlanWithRecompute(entries, std::move(layout), target, options);
  const std::chrono::duration<double> seconds = Clock::now() - start;
  if (recomputes) {
    AddNodes(ran, kRematerialisePass, CountOthers(entries[0].graph) - others, seconds.count());
  }
  if (MaySwap(options)) {  // the time of all three is one search
    AddNodes(ran, kSwapPass, CountTransfers(entries[0].graph) - transfers, 0);
  }
  if (MayUseSmallerWorkspaces(options)) TellOfWorkspaces(entries[0].graph, ran);
  return layout;
}

}  // namespace cgrun
