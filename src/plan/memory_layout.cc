// PlanLayout places the persistent region first, then the transient buffers of each entry point
// above it.
#include "src/plan/memory_layout.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "src/base/check.h"
#include "src/ir/op_def.h"
#include "src/plan/recompute_by_name.h"

namespace cgrun {
namespace {

static_assert(static_cast<int>(Zone::kWorkspace) == kWorkspaceZone);
constexpr Zone kZones[] = {Zone::kForward, Zone::kGradient, Zone::kOptimizer, Zone::kWorkspace};

std::string BufferName(const Graph& graph, const SharedBuffer& buffer) {
  if (buffer.workspace_of.valid()) return graph.nodes[buffer.workspace_of].name + ".workspace";
  return graph.values[buffer.values[0]].name;
}

// Entry points share the states of one name, and the constants of one name that hold the same
// bytes.
std::string PersistentKey(const Graph& graph, const SharedBuffer& buffer) {
  const ValueId id = buffer.values[0];
  std::string key = graph.values[id].name;
  if (graph.values[id].role != Role::kConstant) return key;
  const auto bytes = graph.constants.at(id).bytes();
  key += '\0' + graph.values[id].type.ToString() + '\0';
  return key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Buffers as large as what they keep others from: with bytes behind their ends to the next place
// where one can begin. A search that fills gaps is at its best where all sizes have a common
// divisor.
MemoryProblem ProblemOf(const Graph& graph, const BufferAssignment& assignment,
                        const std::vector<SharedBufferId>& ids, bool with_names = true) {
  MemoryProblem problem;
  problem.buffers.reserve(ids.size());
  for (SharedBufferId id : ids) {
    const SharedBuffer& buffer = assignment.buffers[id];
    Buffer item;
    item.bytes = RoundUp(buffer.bytes, kDefaultAlignment);
    item.lower = buffer.lifespan.lower;
    item.upper = buffer.lifespan.upper;
    if (with_names) item.name = BufferName(graph, buffer);
    item.zone = static_cast<int>(buffer.zone);
    problem.buffers.push_back(std::move(item));
  }
  return problem;
}

// Returns the transient buffers of one zone, or of all zones if `zone` is null, in the arena of
// that kind.
std::vector<SharedBufferId> TransientBuffers(const BufferAssignment& assignment, const Zone* zone,
                                             ArenaKind arena = ArenaKind::kDevice) {
  std::vector<SharedBufferId> ids;
  for (SharedBufferId id : assignment.buffers.ids()) {
    const SharedBuffer& buffer = assignment.buffers[id];
    if (buffer.persistent || buffer.arena != arena) continue;
    if (zone == nullptr || buffer.zone == *zone) ids.push_back(id);
  }
  return ids;
}

BufferAssignment Assign(const PlannedEntry& entry, const LayoutOptions& options, bool sub_buffers) {
  const bool may_have_sub_buffers = options.in_place && !options.incremental;
  return AssignBuffers(*entry.graph, *entry.schedule,
                       {options.in_place, options.zones_apart, sub_buffers && may_have_sub_buffers,
                        options.incremental});
}

class LayoutPlanner {
 public:
  // `sub_buffers`: they lie in their wholes where that does not make the fullest step fuller.
  LayoutPlanner(const std::vector<PlannedEntry>& entries, const LayoutOptions& options,
                bool sub_buffers)
      : entries_(entries), options_(options), sub_buffers_(sub_buffers) {}

  MemoryLayout Run() {
    const auto start = std::chrono::steady_clock::now();
    layout_.zones_apart = options_.zones_apart;
    for (const PlannedEntry& entry : entries_) {
      assignments_.push_back(Assign(entry, options_, sub_buffers_));
      placed_.emplace_back(assignments_.back().buffers.size());
    }
    for (Zone zone : kZones) layout_.zones.push_back({zone, 0, 0, 0});
    PlacePersistent(Zone::kForward);
    PlacePersistent(Zone::kGradient);
    PlacePersistent(Zone::kOptimizer);
    layout_.persistent_bytes = RoundUp(layout_.arena_bytes, kDefaultAlignment);
    layout_.has_sub_buffers =
        std::ranges::any_of(assignments_, [](const auto& of) { return of.sub_buffers > 0; });
    if (options_.zones_apart) {
      PlanZonesApart();
    } else {
      PlanTogether();
    }
    PlanFile();
    Finish();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    layout_.plan_seconds = seconds.count();
    return std::move(layout_);
  }

 private:
  ZoneUse& Use(Zone zone) { return layout_.zones[static_cast<size_t>(zone)]; }

  // State and constants of one zone, one after another, each once over all entry points.
  void PlacePersistent(Zone zone) {
    for (size_t e = 0; e < entries_.size(); ++e) {
      const Graph& graph = *entries_[e].graph;
      for (SharedBufferId id : assignments_[e].buffers.ids()) {
        const SharedBuffer& buffer = assignments_[e].buffers[id];
        if (!buffer.persistent || buffer.zone != zone) continue;
        const auto [it, is_new] =
            persistent_.emplace(PersistentKey(graph, buffer), layout_.buffers.size());
        placed_[e][id] = it->second;
        if (!is_new) {
          CGRUN_CHECK(layout_.buffers[it->second].bytes == buffer.bytes)
              << BufferName(graph, buffer) << " differs between entry points";
          continue;
        }
        PlacedBuffer placed = Describe(graph, buffer, -1);
        placed.offset = RoundUp(layout_.arena_bytes, kDefaultAlignment);
        layout_.arena_bytes = placed.offset + placed.bytes;
        Use(zone).persistent_bytes += RoundUp(placed.bytes, kDefaultAlignment);
        ++Use(zone).buffers;
        layout_.buffers.push_back(std::move(placed));
      }
    }
  }

  static PlacedBuffer Describe(const Graph& graph, const SharedBuffer& buffer, int entry) {
    PlacedBuffer placed;
    placed.name = BufferName(graph, buffer);
    placed.zone = buffer.zone;
    placed.persistent = buffer.persistent;
    placed.arena = buffer.arena;
    placed.bytes = buffer.bytes;
    placed.entry = entry;
    placed.lifespan = buffer.lifespan;
    for (ValueId id : buffer.values) placed.values.push_back(graph.values[id].name);
    placed.mark = buffer.workspace_of.valid() ? graph.nodes[buffer.workspace_of].mark
                                              : graph.values[buffer.values[0]].mark;
    const NodeId producer =
        buffer.values.empty() ? NodeId() : graph.values[buffer.values[0]].producer;
    placed.recomputed = producer.valid() && graph.nodes[producer].recomputes.valid();
    placed.single_threaded =
        buffer.workspace_of.valid() && graph.nodes[buffer.workspace_of].kernel->single_threaded;
    return placed;
  }

  void MarkSwapped() {
    for (size_t e = 0; e < entries_.size(); ++e) {
      for (const Node& node : entries_[e].graph->nodes) {
        if (!IsTransfer(node.op)) continue;
        for (const auto* values : {&node.inputs, &node.outputs}) {
          for (ValueId id : *values) {
            const int index = layout_.entries[e].buffer[id];
            if (index >= 0) layout_.buffers[static_cast<size_t>(index)].swapped = true;
          }
        }
      }
    }
  }

  // All transient buffers of an entry point share addresses.
  void PlanTogether() {
    int64_t bound = 0;
    for (size_t e = 0; e < entries_.size(); ++e) {
      EntryLayout entry = NewEntry(e);
      const std::vector<SharedBufferId> ids = TransientBuffers(assignments_[e], nullptr);
      const MemoryPlan plan = Plan(e, ids, layout_.persistent_bytes, entry);
      entry.transient_bytes = plan.peak_bytes;
      entry.transient_lower_bound = plan.lower_bound_bytes;
      if (plan.peak_bytes >= layout_.transient_bytes) layout_.planner = plan.planner;
      layout_.transient_bytes = std::max(layout_.transient_bytes, plan.peak_bytes);
      bound = std::max(bound, plan.lower_bound_bytes);
      layout_.entries.push_back(std::move(entry));
    }
    layout_.lower_bound_bytes = layout_.persistent_bytes + bound;
  }

  // Each zone has its own addresses, as large as its largest entry point needs.
  void PlanZonesApart() {
    for (size_t e = 0; e < entries_.size(); ++e) layout_.entries.push_back(NewEntry(e));
    int64_t bound = 0;
    for (Zone zone : kZones) {
      const int64_t base = layout_.persistent_bytes + layout_.transient_bytes;
      int64_t zone_bytes = 0, zone_bound = 0;
      for (size_t e = 0; e < entries_.size(); ++e) {
        const std::vector<SharedBufferId> ids = TransientBuffers(assignments_[e], &zone);
        const MemoryPlan plan = Plan(e, ids, base, layout_.entries[e]);
        layout_.entries[e].transient_bytes += RoundUp(plan.peak_bytes, kDefaultAlignment);
        layout_.entries[e].transient_lower_bound +=
            RoundUp(plan.lower_bound_bytes, kDefaultAlignment);
        if (plan.peak_bytes >= zone_bytes) layout_.planner = plan.planner;
        zone_bytes = std::max(zone_bytes, plan.peak_bytes);
        zone_bound = std::max(zone_bound, plan.lower_bound_bytes);
      }
      layout_.transient_bytes += RoundUp(zone_bytes, kDefaultAlignment);
      bound += RoundUp(zone_bound, kDefaultAlignment);
    }
    layout_.lower_bound_bytes = layout_.persistent_bytes + bound;
  }

  // The swap file is an arena of its own, whatever zones its tensors are of.
  void PlanFile() {
    for (size_t e = 0; e < entries_.size(); ++e) {
      const std::vector<SharedBufferId> ids =
          TransientBuffers(assignments_[e], nullptr, ArenaKind::kFile);
      if (ids.empty()) continue;
      EntryLayout& entry = layout_.entries[e];
      entry.file_bytes = Plan(e, ids, 0, entry).peak_bytes;
      layout_.file_bytes = std::max(layout_.file_bytes, entry.file_bytes);
    }
  }

  EntryLayout NewEntry(size_t e) const {
    const Graph& graph = *entries_[e].graph;
    EntryLayout entry;
    entry.offset.resize(graph.values.size(), -1);
    entry.workspace_offset.resize(graph.nodes.size(), -1);
    entry.buffer.resize(graph.values.size(), -1);
    entry.workspace_buffer.resize(graph.nodes.size(), -1);
    entry.elided = assignments_[e].elided;
    entry.in_place_bytes = assignments_[e].in_place_bytes;
    entry.remat = RecomputeByName(graph, options_.recompute);
    entry.incremental = options_.incremental;
    for (const SharedBuffer& buffer : assignments_[e].buffers) {
      if (buffer.persistent || buffer.arena != ArenaKind::kDevice) continue;
      entry.naive_bytes += RoundUp(buffer.bytes, kDefaultAlignment);
      if (buffer.kept) entry.kept_bytes += RoundUp(buffer.bytes, kDefaultAlignment);
    }
    entry.naive_bytes += entry.in_place_bytes;
    for (SharedBufferId id : assignments_[e].buffers.ids()) {
      const SharedBuffer& buffer = assignments_[e].buffers[id];
      if (!buffer.persistent) continue;
      const size_t index = placed_[e][id];
      for (ValueId value : buffer.values) {
        entry.offset[value] = layout_.buffers[index].offset;
        entry.buffer[value] = static_cast<int>(index);
      }
    }
    return entry;
  }

  // Packs some buffers of an entry point above `base`, and notes where they lie.
  MemoryPlan Plan(size_t e, const std::vector<SharedBufferId>& ids, int64_t base,
                  EntryLayout& entry) {
    const Graph& graph = *entries_[e].graph;
    const MemoryProblem problem = ProblemOf(graph, assignments_[e], ids);
    PackingStore* packings = options_.packings.get();
    MemoryPlan plan = options_.packs_longer ? PackOnce(problem, packings)
                                            : PlanMemoryOnce(problem, options_.planner, packings);
    for (size_t i = 0; i < ids.size(); ++i) {
      const SharedBuffer& buffer = assignments_[e].buffers[ids[i]];
      PlacedBuffer placed = Describe(graph, buffer, static_cast<int>(e));
      placed.offset = base + plan.offsets[i];
      const auto index = static_cast<int>(layout_.buffers.size());
      for (ValueId id : buffer.values) {
        entry.offset[id] = placed.offset + assignments_[e].offset[id];
        entry.buffer[id] = index;
      }
      if (buffer.workspace_of.valid()) {
        entry.workspace_offset[buffer.workspace_of] = placed.offset;
        entry.workspace_buffer[buffer.workspace_of] = index;
      }
      if (buffer.arena == ArenaKind::kDevice) ++Use(buffer.zone).buffers;
      layout_.buffers.push_back(std::move(placed));
    }
    return plan;
  }

  void Finish() {
    MarkSwapped();
    for (Zone zone : kZones) {
      for (size_t e = 0; e < entries_.size(); ++e) {
        const std::vector<SharedBufferId> ids = TransientBuffers(assignments_[e], &zone);
        const int64_t most =
            LowerBound(ProblemOf(*entries_[e].graph, assignments_[e], ids, /*with_names=*/false));
        Use(zone).transient_bytes = std::max(Use(zone).transient_bytes, most);
      }
    }
    layout_.arena_bytes = layout_.persistent_bytes + layout_.transient_bytes;
    layout_.optimal = layout_.arena_bytes == layout_.lower_bound_bytes;
  }

  const std::vector<PlannedEntry>& entries_;
  LayoutOptions options_;
  const bool sub_buffers_;
  std::vector<BufferAssignment> assignments_;
  std::unordered_map<std::string, size_t> persistent_;    // key → index in layout_.buffers …
  std::vector<IdVector<SharedBufferId, size_t>> placed_;  // … of each entry point's own
  MemoryLayout layout_;
};

// Lowers the bounds to those of the layout with sub-buffers, since a bound must hold for both kinds
// of layout.
void TakeBounds(const MemoryLayout& with_sub_buffers, MemoryLayout* layout) {
  for (size_t e = 0; e < layout->entries.size(); ++e) {
    int64_t& bound = layout->entries[e].transient_lower_bound;
    bound = std::min(bound, with_sub_buffers.entries[e].transient_lower_bound);
  }
  layout->lower_bound_bytes =
      std::min(layout->lower_bound_bytes, with_sub_buffers.lower_bound_bytes);
  layout->optimal = layout->arena_bytes == layout->lower_bound_bytes;
}

}  // namespace

MemoryLayout PlanLayout(const std::vector<PlannedEntry>& entries, const LayoutOptions& options) {
  MemoryLayout layout = LayoutPlanner(entries, options, true).Run();
  if (layout.optimal || !layout.has_sub_buffers) return layout;
  // Longer lives can be harder to pack.
  MemoryLayout apart = LayoutPlanner(entries, options, false).Run();
  if (apart.arena_bytes >= layout.arena_bytes) return layout;
  TakeBounds(layout, &apart);
  return apart;
}

MemoryProblem TransientProblem(const PlannedEntry& entry, const LayoutOptions& options,
                               bool sub_buffers) {
  const BufferAssignment assignment = Assign(entry, options, sub_buffers);
  return ProblemOf(*entry.graph, assignment, TransientBuffers(assignment, nullptr));
}

}  // namespace cgrun
