// Every order that is not much worse is planned as it would be planned alone.
#include "src/budget/other_orders.h"

#include <algorithm>
#include <string>
#include <utility>

#include "src/budget/close_gap.h"
#include "src/budget/plan_once.h"
#include "src/budget/spend_share.h"

namespace cgrun {
namespace {

constexpr int64_t kOrderParts = 10;       // an order needs at most such a part more than the best
constexpr int64_t kOrderPartsOfFew = 50;  // the same where it must be quick
constexpr int64_t kMuch = 256 << 20;      // bytes, for which a large graph may take long
constexpr int64_t kBoundParts = 150;      // closing a gap lowers a bound by such a part at most

// Entry points in an order, and their plan.
struct OrderedPlan {
  std::vector<CompiledEntry> entries;
  MemoryLayout layout;
};

// Returns whether each order is planned as if it were the only one. In a large graph that takes a
// second, for which a few MiB are no reason.
bool IsWorthATry(const std::vector<CompiledEntry>& entries, const MemoryLayout& layout) {
  const auto nodes = static_cast<int64_t>(entries[0].graph.nodes.size());
  return nodes <= kLargeGraph || layout.arena_bytes >= kMuch;
}

// The same entry points in each other order, with recomputation of what is cheap.
std::vector<OrderedPlan> PlanInOtherOrders(const std::vector<CompiledEntry>& entries,
                                           const MemoryLayout& layout, const Target& target,
                                           const BudgetOptions& options) {
  std::vector<OrderedPlan> plans;
  const bool tries_orders = options.order == kMemoryOrder && options.recompute_share > 0 &&
                            options.effort == PlanEffort::kFull && options.arena_cap == 0 &&
                            !TakesLong(entries[0].graph);
  if (!tries_orders) return plans;
  const bool is_thorough = options.closes_gaps && IsWorthATry(entries, layout);
  const int64_t parts = is_thorough ? kOrderParts : kOrderPartsOfFew;
  const int64_t most_bytes = layout.arena_bytes + layout.arena_bytes / parts;
  for (const OrderEntry& order : Orders()) {
    if (order.name == kMemoryOrder) continue;
    BudgetOptions with_order = options;
    with_order.order = order.name;
    OrderedPlan plan{entries, {}};
    for (size_t e = 0; e < entries.size(); ++e) {
      const bool largest = layout.entries[e].transient_bytes == layout.transient_bytes;
      if (largest) SetOrder(plan.entries[e], with_order.order);
    }
    plan.layout = PlanOnce(plan.entries, WithQuickPlanner(options).layout);
    if (plan.layout.arena_bytes > most_bytes) continue;
    const int64_t by_order = std::max<int64_t>(0, plan.layout.arena_bytes - layout.arena_bytes);
    if (!is_thorough) with_order = WithQuickPlanner(with_order);
    plan.layout = PlanLower(plan.entries, std::move(plan.layout), target, with_order);
    int64_t& saved = plan.layout.recompute_saved_bytes;
    saved = std::max<int64_t>(0, saved - by_order);
    plans.push_back(std::move(plan));
  }
  return plans;
}

// Returns whether a plan may take less than `bytes` once its gap is closed. On the way other
// choices are made, whose bound can be a little lower. A quickly packed plan must promise that by
// its bound.
bool MayComeBelow(int64_t bytes, const MemoryLayout& layout) {
  if (layout.planner == kQuickPlanner) return layout.lower_bound_bytes < bytes;
  if (layout.arena_bytes == layout.lower_bound_bytes) return layout.arena_bytes < bytes;
  return layout.lower_bound_bytes < bytes + bytes / kBoundParts;
}

}  // namespace

MemoryLayout PlanInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const Target& target, const BudgetOptions& options) {
  std::vector<OrderedPlan> plans = PlanInOtherOrders(entries, layout, target, options);
  MemoryLayout first = PlanLower(entries, std::move(layout), target, options);
  plans.insert(plans.begin(), {std::move(entries), std::move(first)});
  std::ranges::stable_sort(plans, {}, [](const OrderedPlan& p) { return p.layout.arena_bytes; });
  OrderedPlan* best = nullptr;
  for (OrderedPlan& plan : plans) {
    if (best != nullptr && !MayComeBelow(best->layout.arena_bytes, plan.layout)) continue;
    plan.layout = Packed(plan.entries, std::move(plan.layout), options.layout);
    plan.layout = WithoutGap(plan.entries, std::move(plan.layout), target, options);
    if (best == nullptr || plan.layout.arena_bytes < best->layout.arena_bytes) best = &plan;
  }
  entries = std::move(best->entries);
  return std::move(best->layout);
}

MemoryLayout PackInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const BudgetOptions& options) {
  const bool tries_orders = options.order == kMemoryOrder && options.effort == PlanEffort::kFull &&
                            options.layout.planner == LayoutOptions().planner &&
                            !TakesLong(entries[0].graph);
  if (!tries_orders) return layout;
  for (const OrderEntry& order : Orders()) {
    if (layout.arena_bytes == layout.lower_bound_bytes) break;
    if (order.name == kMemoryOrder) continue;
    std::vector<CompiledEntry> tried = entries;
    for (CompiledEntry& entry : tried) SetOrder(entry, std::string(order.name));
    const MemoryLayout quick = PlanOnce(tried, WithQuickPlanner(options).layout);
    if (quick.lower_bound_bytes >= layout.arena_bytes) continue;
    MemoryLayout packed = PlanOnce(tried, options.layout);
    if (packed.arena_bytes >= layout.arena_bytes) continue;
    layout = std::move(packed);
    entries = std::move(tried);
  }
  return layout;
}

}  // namespace cgrun
