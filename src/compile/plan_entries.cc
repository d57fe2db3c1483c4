// PlanEntries: the orders as they are, then what the plan wants computed again, then what makes the
// arena smaller or lets it fit.
#include "src/compile/plan_entries.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/compile/planned_reports.h"
#include "src/compile/recompute.h"
#include "src/ir/op_def.h"
#include "src/plan/recompute.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kQuickPlanner = "greedy";
constexpr std::string_view kMemoryOrder = "memory";
constexpr int kMaxRematRounds = 4;
constexpr int kMostPackings = 6;           // on the way to a cap …
constexpr int kFewPackings = 3;            // … and to a bound that was missed
constexpr int kMostGapsTried = 6;          // ways to close a gap
constexpr int64_t kLeastGap = 2000;        // a gap is more than such a part of the bound, …
constexpr int64_t kLeastGapLeft = 20'000;  // what is packed longer leaves more than such a part, …
constexpr int64_t kGapParts = 8;           // … parts of it may stay, …
constexpr int64_t kGapPartsMore = 2;       // … more of them where fewer were too few
constexpr int64_t kGapPartsSpent = 4;      // fewer are spent where more were too many
constexpr double kGapShare = 1.05;   // a plan without it may take as many times what may be spent
constexpr double kAnyShare = 1000;   // of a step's time
constexpr int64_t kOrderParts = 10;  // an order needs at most one part more than the best;
constexpr int64_t kOrderPartsOfFew = 50;  // where it must be quick, one of more parts
constexpr int64_t kMuch = 256 << 20;      // bytes, for which a large graph may take long
// Of the schedules that are searched through on the way to a cap: about a second for 30 million.
constexpr int64_t kNodesSearched = 30'000'000;
constexpr int64_t kNodesSearchedAgain = 10'000'000;  // where a packing has left gaps
constexpr int64_t kFewNodesSearched = 3'000'000;     // without a cap, …
constexpr int64_t kSchedulesSearched = 5000;         // … in so many schedules
constexpr int kMostLower = 4;                        // arenas, each …
constexpr int64_t kLargeGraph = 1300;                // (nodes, where that would take too long)
constexpr int64_t kLowerParts = 128;                 // … such a part lower
constexpr int64_t kBoundParts = 150;                 // closing a gap lowers a bound by one at most

CompileOptions WithQuickPlanner(CompileOptions options) {
  options.layout.planner = kQuickPlanner;
  return options;
}

// Plans; as long as the plan wants values to be computed again, does that and plans anew. `ran` is
// told what the passes that do it did to the first entry point.
MemoryLayout PlanAsWanted(std::vector<CompiledEntry>& entries, const Target& target,
                          const CompileOptions& options, std::vector<PassReport>& ran) {
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

// `layout` of the entry points, packed by the planner of `options` if it was by another one.
MemoryLayout Packed(const std::vector<CompiledEntry>& entries, MemoryLayout layout,
                    const LayoutOptions& options) {
  if (layout.planner == options.planner) return layout;
  MemoryLayout packed = PlanOnce(entries, options);
  packed.recompute_saved_bytes = layout.recompute_saved_bytes;
  return packed;
}

// Plans anew with what is cheap computed again, for the entry points that take most; keeps that
// where it makes the arena smaller. `layout` may be packed by planner `greedy`: what takes less
// than its bound is better than any packing of it, which is then not looked for.
MemoryLayout PlanWithLess(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                          const Target& target, const CompileOptions& options) {
  if (options.recompute_share <= 0) return Packed(entries, std::move(layout), options.layout);
  const RecomputeGoal goal{options.recompute_share};
  std::vector<bool> tried(entries.size());
  while (true) {
    std::map<size_t, CompiledEntry> others;  // in place of an entry point, as it is or as it was
    for (size_t e = 0; e < entries.size(); ++e) {
      const bool largest = layout.entries[e].transient_bytes == layout.transient_bytes;
      if (!largest || tried[e]) continue;
      tried[e] = true;
      if (auto with_less = RecomputedAtPeak(entries[e], target, options, goal)) {
        others.emplace(e, std::move(*with_less));
      }
    }
    const auto exchange = [&] {
      for (auto& [e, other] : others) std::swap(entries[e], other);
    };
    if (others.empty()) return Packed(entries, std::move(layout), options.layout);
    exchange();
    MemoryLayout less = PlanOnce(entries, options.layout);
    if (less.arena_bytes >= layout.lower_bound_bytes) {
      exchange();
      layout = Packed(entries, std::move(layout), options.layout);
      exchange();
    }
    if (less.arena_bytes >= layout.arena_bytes) {
      exchange();
      return layout;
    }
    less.recompute_saved_bytes = layout.recompute_saved_bytes +
                                 std::max<int64_t>(layout.lower_bound_bytes - less.arena_bytes, 0);
    layout = std::move(less);
  }
}

struct SearchEffort {
  int packings = 1;
  int64_t nodes = 0, nodes_again = 0;  // of the first search and of others; 0: none
  bool is_final = false;               // RecomputeGoal
};

// Plans within options.arena_cap, with anything computed again that helps: the packing is the
// judge, and where it leaves gaps, the next try aims lower by as much. The smallest arena that was
// found where none fits.
MemoryLayout PlanWithin(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const CompileOptions& options,
                        const SearchEffort& effort) {
  const std::vector<CompiledEntry> before = entries;
  const std::vector<EntryLayout> layouts_before = layout.entries;
  const int64_t whole_bytes = layout.arena_bytes + layout.recompute_saved_bytes;
  RecomputeGoal goal{kAnyShare, options.arena_cap - layout.persistent_bytes, /*may_swap=*/true};
  for (int i = 0; i < effort.packings && layout.arena_bytes > options.arena_cap; ++i) {
    std::vector<CompiledEntry> tried = before;
    goal.nodes_searched = i == 0 ? effort.nodes : effort.nodes_again;
    goal.is_final = effort.is_final;
    for (size_t e = 0; e < tried.size(); ++e) {
      if (layouts_before[e].transient_bytes <= goal.bytes) continue;
      RecomputeAtPeak(tried[e], target, options, goal);
    }
    MemoryLayout less = PlanOnce(tried, options.layout);
    const bool out_of_reach = less.lower_bound_bytes > options.arena_cap;
    goal.bytes -= std::max<Bytes>(less.arena_bytes - options.arena_cap, kDefaultAlignment);
    const bool smaller = less.arena_bytes < layout.arena_bytes;
    if (smaller) {
      layout = std::move(less);
      entries = std::move(tried);
    } else if (i > 0) {
      break;
    }
    layout.cap_out_of_reach = out_of_reach;
    if (out_of_reach) break;
  }
  layout.recompute_saved_bytes = whole_bytes - layout.arena_bytes;
  return layout;
}

// What is there for less memory, as a share of the step without it.
double ShareForLess(const Graph& graph) {
  const double for_less = SecondsForLess(graph);
  const double without = SecondsOfStep(graph) - for_less;
  return without > 0 ? for_less / without : 0;
}

// Whether that is no larger than it was, or than `share`.
bool TakesNoLonger(const std::vector<CompiledEntry>& tried,
                   const std::vector<CompiledEntry>& entries, double share) {
  for (size_t e = 0; e < tried.size(); ++e) {
    const double most = std::max(ShareForLess(entries[e].graph), share);
    if (ShareForLess(tried[e].graph) > most) return false;
  }
  return true;
}

// The search that caps have, for arenas a little lower, as long as it finds one in the time that
// may be spent: the ways above take what is best at each peak, and so not always what is best of
// all.
MemoryLayout SearchLower(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                         const Target& target, const CompileOptions& asked) {
  CompileOptions options = asked;
  options.swap.reset();
  const auto nodes = static_cast<int64_t>(entries[0].graph.nodes.size());
  if (nodes > kLargeGraph) return layout;
  const int64_t searched = std::min(kFewNodesSearched, kSchedulesSearched * nodes);
  for (int tries = 0; tries < kMostLower; ++tries) {
    options.arena_cap = layout.arena_bytes - layout.arena_bytes / kLowerParts;
    if (options.arena_cap <= layout.persistent_bytes) break;
    std::vector<CompiledEntry> tried = entries;
    MemoryLayout lower = PlanWithin(tried, layout, target, options, {1, searched});
    lower.cap_out_of_reach = false;
    const bool is_lower = lower.arena_bytes < layout.arena_bytes;
    if (!is_lower || !TakesNoLonger(tried, entries, asked.recompute_share)) break;
    entries = std::move(tried);
    layout = std::move(lower);
  }
  return layout;
}

// The two in turn.
MemoryLayout PlanLower(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                       const Target& target, const CompileOptions& options) {
  layout = PlanWithLess(entries, std::move(layout), target, options);
  const bool searches = options.effort == PlanEffort::kFull && options.arena_cap == 0 &&
                        options.recompute_share > 0 && options.closes_gaps;
  return searches ? SearchLower(entries, std::move(layout), target, options) : layout;
}

// With the search for what takes least time, unless its plans are those that do not pack.
MemoryLayout PlanWithinCap(std::vector<CompiledEntry>& entries, const MemoryLayout& layout,
                           const Target& target, const CompileOptions& options) {
  std::vector<CompiledEntry> plain = entries;
  if (options.effort == PlanEffort::kFull) {
    MemoryLayout searched =
        PlanWithin(entries, layout, target, options,
                   {kMostPackings, kNodesSearched, kNodesSearchedAgain, /*is_final=*/true});
    if (searched.arena_bytes <= options.arena_cap || searched.cap_out_of_reach) return searched;
  }
  entries = std::move(plain);
  return PlanWithin(
      entries, layout, target, options,
      {options.effort == PlanEffort::kQuick ? 1 : kMostPackings, 0, 0, /*is_final=*/true});
}

// Where the packing has left a gap above its bound, other choices of what runs again are looked
// for, as under a cap, that take no longer, or a twentieth more than may be spent: as low as the
// bound, or, where that takes too long or does not pack, some way to it.
MemoryLayout CloseGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                      const Target& target, const CompileOptions& asked) {
  CompileOptions options = asked;
  options.swap.reset();
  int64_t part = 0;  // of kGapParts of the gap, that may stay
  for (int tries = 0; tries < kMostGapsTried && part < kGapParts; ++tries) {
    const int64_t bound = layout.lower_bound_bytes, gap = layout.arena_bytes - bound;
    if (gap <= bound / kLeastGap) break;
    options.arena_cap = bound + part * gap / kGapParts;
    std::vector<CompiledEntry> tried = entries;
    MemoryLayout closer = PlanWithin(tried, layout, target, options,
                                     {kFewPackings, kNodesSearched, kNodesSearchedAgain});
    closer.cap_out_of_reach = false;
    const bool is_lower = closer.arena_bytes < layout.arena_bytes;
    if (part > 0 && !is_lower) break;
    const bool is_taken =
        is_lower && TakesNoLonger(tried, entries, kGapShare * asked.recompute_share);
    part = is_taken && closer.arena_bytes <= options.arena_cap ? 0 : part + kGapPartsMore;
    if (!is_taken) continue;
    entries = std::move(tried);
    layout = std::move(closer);
  }
  return layout;
}

// What the packing takes above its bound is spent where it cannot be closed: values are held that
// would be computed again, as long as the arena is not larger for it.
MemoryLayout SpendGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                      const Target& target, const CompileOptions& options) {
  for (int64_t part = kGapParts; part > 0; part -= kGapPartsSpent) {
    const Bytes bound = layout.lower_bound_bytes, gap = layout.arena_bytes - bound;
    if (gap <= 0) break;
    std::vector<CompiledEntry> tried = entries;
    bool changed = false;
    for (CompiledEntry& entry : tried) {
      const Bytes bytes = bound + gap * part / kGapParts - layout.persistent_bytes;
      changed |= HoldWhatFits(entry, target, options, bytes);
    }
    if (!changed) continue;
    MemoryLayout spent = PlanOnce(tried, options.layout);
    const bool is_closer = spent.arena_bytes - spent.lower_bound_bytes < gap;
    if (spent.arena_bytes > layout.arena_bytes || !is_closer) continue;
    spent.recompute_saved_bytes = layout.recompute_saved_bytes;
    layout = std::move(spent);
    entries = std::move(tried);
  }
  return layout;
}

// A longer search for the same plan, where a gap is left.
MemoryLayout PackLonger(const std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        LayoutOptions options) {
  const Bytes gap = layout.arena_bytes - layout.lower_bound_bytes;
  if (gap <= layout.lower_bound_bytes / kLeastGapLeft) return layout;
  options.packs_longer = true;
  MemoryLayout packed = PlanOnce(entries, options);
  if (packed.arena_bytes >= layout.arena_bytes) return layout;
  packed.recompute_saved_bytes = layout.recompute_saved_bytes;
  return packed;
}

// As little above the bound as is found.
MemoryLayout WithoutGap(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const CompileOptions& options) {
  if (!ClosesGaps(options) || TakesLong(entries[0].graph)) return layout;
  layout = CloseGap(entries, std::move(layout), target, options);
  layout = SpendGap(entries, std::move(layout), target, options);
  return PackLonger(entries, std::move(layout), options.layout);
}

// Entry points in an order, and their plan.
struct OrderedPlan {
  std::vector<CompiledEntry> entries;
  MemoryLayout layout;
};

// Whether orders are planned one by one, as they would be planned alone: in a large graph that
// takes a second, for which a few MiB are no reason.
bool IsWorthATry(const std::vector<CompiledEntry>& entries, const MemoryLayout& layout) {
  const auto nodes = static_cast<int64_t>(entries[0].graph.nodes.size());
  return nodes <= kLargeGraph || layout.arena_bytes >= kMuch;
}

// The same in each order. `memory` needs least of all orders as the graph is; with what is cheap
// computed again one that needed more can come lower.
std::vector<OrderedPlan> PlanInOtherOrders(const std::vector<CompiledEntry>& entries,
                                           const MemoryLayout& layout, const Target& target,
                                           const CompileOptions& options) {
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
    CompileOptions with_order = options;
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

// Whether a plan may take less than `bytes` once its gap is closed: on the way other choices are
// made, whose bound can be a little lower. One that was packed quickly is worth it for more alone.
bool MayComeBelow(int64_t bytes, const MemoryLayout& layout) {
  if (layout.planner == kQuickPlanner) return layout.lower_bound_bytes < bytes;
  if (layout.arena_bytes == layout.lower_bound_bytes) return layout.arena_bytes < bytes;
  return layout.lower_bound_bytes < bytes + bytes / kBoundParts;
}

// The lowest of the plans in any order, each with its gap closed while that may make it the lowest.
MemoryLayout PlanInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const Target& target, const CompileOptions& options) {
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

// With nothing computed again `memory` needs least of all orders; where its packing leaves a gap,
// another one can pack into less.
MemoryLayout PackInAnyOrder(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                            const CompileOptions& options) {
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

CompileOptions WithPlannerOfEffort(CompileOptions options) {
  const bool is_default = options.layout.planner == LayoutOptions().planner;
  if (options.effort == PlanEffort::kQuick && is_default) options.layout.planner = kQuickPlanner;
  return options;
}

// With what is worth it computed again; it is in the entry points, then.
MemoryLayout PlanWithRecompute(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                               const Target& target, const CompileOptions& options) {
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

bool ClosesGaps(const CompileOptions& options) {
  const bool is_full =
      options.effort == PlanEffort::kFull && options.layout.planner == LayoutOptions().planner;
  return is_full && options.closes_gaps && options.recompute_share > 0 &&
         !options.passes.Disabled(kRematerialisePass);
}

MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const CompileOptions& asked, std::vector<PassReport>& ran) {
  CompileOptions options = WithPlannerOfEffort(asked);
  const bool recomputes = !options.passes.Disabled(kRematerialisePass);
  if (!recomputes) options.recompute_share = 0;
  const bool lowers = recomputes || Swaps(options) || MayWorkAlone(options);
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
  if (Swaps(options)) {  // the time of all three is one search
    AddNodes(ran, kSwapPass, CountTransfers(entries[0].graph) - transfers, 0);
  }
  if (MayWorkAlone(options)) TellOfWorkspaces(entries[0].graph, ran);
  return layout;
}

}  // namespace cgrun
