// The arena of a model: regions, zones, several entry points, and the bound.
#include "src/plan/memory_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/select/select.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// Holds graphs with their schedules, to be planned together.
struct Entries {
  std::vector<Graph> graphs;
  std::vector<Schedule> schedules;

  void Add(const Graph& graph, std::string_view order = "serial") {
    graphs.push_back(graph);
    schedules.push_back(FindOrder(order)->Order(graph));
  }
  std::vector<PlannedEntry> Planned() const {
    std::vector<PlannedEntry> planned;
    for (size_t i = 0; i < graphs.size(); ++i) {
      planned.push_back({"entry" + std::to_string(i), &graphs[i], &schedules[i]});
    }
    return planned;
  }
};

const PlacedBuffer* Find(const MemoryLayout& layout, const std::string& name, int entry) {
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (buffer.name == name && buffer.entry == entry) return &buffer;
  }
  return nullptr;
}

// c = a + b, d = 2c, side by side in time: add, free a, allocate d where it lay, multiply.
TEST(MemoryLayout, TraceOfTwoOperators) {
  GraphMaker make;
  const ValueId a = make.Feed("a", {64}), b = make.Feed("b", {64}), two = make.Scalar("two", 2);
  const ValueId c = make.Op(OpId::add, "c", {a, b});
  const ValueId d = make.Op(OpId::mul, "d", {two, c});
  make.Out(d, "d");
  Entries entries;
  entries.Add(PrepareGraph(make.graph(), 1, Reference()));
  const MemoryLayout apart = PlanLayout(entries.Planned(), {.in_place = false});
  EXPECT_EQ(apart.transient_bytes, 3 * 256);
  const auto& offset = apart.entries[0].offset;
  EXPECT_TRUE(offset[d] == offset[a] || offset[d] == offset[b]);
  EXPECT_NE(offset[c], offset[d]);
  EXPECT_TRUE(apart.optimal);
  const MemoryLayout in_place = PlanLayout(entries.Planned(), {});
  EXPECT_EQ(in_place.transient_bytes, 2 * 256);
  EXPECT_EQ(in_place.entries[0].offset[c], in_place.entries[0].offset[d]);
  EXPECT_EQ(in_place.entries[0].in_place_bytes, 2 * 256);
  const MemoryLayout naive = PlanLayout(entries.Planned(), {.planner = "naive", .in_place = false});
  EXPECT_EQ(naive.transient_bytes, 4 * 256);
  EXPECT_EQ(in_place.entries[0].naive_bytes, 4 * 256);
}

// Makes a training step and an evaluation of one parameter.
Entries TrainAndEval() {
  GraphMaker train;
  const ValueId w = train.State("w", {4}), m = train.State("m", {4}, Role::kOptimizerState);
  const ValueId x = train.Feed("x", {64, 4});
  const ValueId y = train.Op(OpId::mul, "y", {x, w});
  const ValueId z = train.Op(OpId::mul, "z", {y, m});
  train.Update(w, train.Op(OpId::sub, "next", {w, train.Feed("g", {4})}));
  train.Out(z, "z");
  GraphMaker eval;
  const ValueId scale = eval.Scalar("scale", 3);
  const ValueId other = eval.State("w", {4});
  eval.Out(
      eval.Op(OpId::mul, "y", {eval.Op(OpId::mul, "s", {eval.Feed("x", {8, 4}), other}), scale}),
      "y");
  Entries entries;
  entries.Add(PrepareGraph(train.graph(), 1, Reference()));
  entries.Add(PrepareGraph(eval.graph(), 1, Reference()));
  return entries;
}

TEST(MemoryLayout, EntryPointsShareStateAndTheTransientRegion) {
  const Entries entries = TrainAndEval();
  const MemoryLayout layout = PlanLayout(entries.Planned(), {});
  const ValueId w_train = entries.graphs[0].FindValue("w");
  const ValueId w_eval = entries.graphs[1].FindValue("w");
  EXPECT_EQ(layout.entries[0].offset[w_train], layout.entries[1].offset[w_eval]);
  EXPECT_EQ(layout.persistent_bytes, 3 * 64);  // w, m, scale
  EXPECT_EQ(layout.arena_bytes, layout.persistent_bytes + layout.transient_bytes);
  EXPECT_EQ(layout.transient_bytes,
            std::max(layout.entries[0].transient_bytes, layout.entries[1].transient_bytes));
  EXPECT_GT(layout.entries[0].transient_bytes, layout.entries[1].transient_bytes);
  Entries alone;
  alone.Add(entries.graphs[0]);
  EXPECT_EQ(PlanLayout(alone.Planned(), {}).transient_bytes, layout.transient_bytes);
}

TEST(MemoryLayout, ThePersistentRegionComesFirst) {
  const Entries entries = TrainAndEval();
  for (const bool zones_apart : {false, true}) {
    const MemoryLayout layout = PlanLayout(entries.Planned(), {.zones_apart = zones_apart});
    for (const PlacedBuffer& buffer : layout.buffers) {
      EXPECT_EQ(buffer.persistent, buffer.entry < 0) << buffer.name;
      EXPECT_EQ(buffer.persistent, buffer.offset < layout.persistent_bytes) << buffer.name;
      EXPECT_LE(buffer.offset + buffer.bytes,
                buffer.persistent ? layout.persistent_bytes : layout.arena_bytes);
    }
  }
  const MemoryLayout layout = PlanLayout(entries.Planned(), {});
  EXPECT_LT(Find(layout, "w", -1)->offset, Find(layout, "m", -1)->offset);  // zone by zone
}

// Constants are named by the graph that holds them: two entry points may mean different numbers.
TEST(MemoryLayout, ConstantsOfOneNameAreSharedIfTheyAreEqual) {
  Entries entries;
  for (const float number : {1.0f, 2.0f, 1.0f}) {
    GraphMaker make;
    make.Out(make.Op(OpId::add, "y", {make.Feed("x", {}), make.Scalar("c", number)}), "y");
    entries.Add(PrepareGraph(make.graph(), 1, Reference()));
  }
  const MemoryLayout layout = PlanLayout(entries.Planned(), {});
  const auto offset = [&](size_t entry) {
    return layout.entries[entry].offset[entries.graphs[entry].FindValue("c")];
  };
  EXPECT_NE(offset(0), offset(1));
  EXPECT_EQ(offset(0), offset(2));
  EXPECT_EQ(layout.persistent_bytes, 2 * 64);
}

TEST(MemoryLayout, ViewsAndUpdatesLieWhereWhatTheyShowLies) {
  GraphMaker make;
  const ValueId w = make.State("w", {4});
  const ValueId next = make.Op(OpId::neg, "next", {w});
  make.Update(w, next);
  Entries entries;
  entries.Add(PrepareGraph(make.graph(), 1, Reference()));
  const MemoryLayout layout = PlanLayout(entries.Planned(), {});
  EXPECT_EQ(layout.entries[0].offset[next], layout.entries[0].offset[w]);
  EXPECT_EQ(layout.transient_bytes, 0);
  EXPECT_EQ(layout.arena_bytes, layout.persistent_bytes);
}

TEST(MemoryLayout, TakesAGraphWithoutNodes) {
  GraphMaker make;
  make.Out(make.Feed("x", {4}), "x");
  Entries entries;
  entries.Add(make.graph());
  const MemoryLayout layout = PlanLayout(entries.Planned(), {});
  EXPECT_EQ(layout.arena_bytes, 64);
  EXPECT_EQ(layout.lower_bound_bytes, 64);
}

// --- Properties on random graphs ---

// Two transient buffers of one entry point, or any two of which one is persistent, never lie in the
// same bytes while both are alive.
void ExpectDisjoint(const MemoryLayout& layout) {
  const auto& buffers = layout.buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const PlacedBuffer &a = buffers[i], &b = buffers[j];
      const bool at_once = a.persistent || b.persistent ||
                           (a.entry == b.entry && a.lifespan.lower < b.lifespan.upper &&
                            b.lifespan.lower < a.lifespan.upper);
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      ASSERT_FALSE(at_once && overlap) << a.name << " and " << b.name;
    }
  }
}

// Each transient zone is one range of addresses, and the ranges do not meet.
void ExpectZonesApart(const MemoryLayout& layout) {
  struct Range {
    int64_t begin = INT64_MAX, end = 0;
  };
  std::map<Zone, Range> ranges;
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (buffer.persistent) continue;
    Range& range = ranges[buffer.zone];
    range.begin = std::min(range.begin, buffer.offset);
    range.end = std::max(range.end, buffer.offset + buffer.bytes);
  }
  for (const auto& [zone, range] : ranges) {
    for (const auto& [other_zone, other] : ranges) {
      if (zone == other_zone) continue;
      ASSERT_TRUE(range.end <= other.begin || other.end <= range.begin)
          << Name(zone) << " and " << Name(other_zone) << " interleave";
    }
  }
}

TEST(MemoryLayout, KeepsItsPromisesOnRandomGraphs) {
  int64_t apart_larger = 0, optimal = 0, layouts = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Entries entries;
    const Graph graph = MakeRandomGraph(seed);
    entries.Add(PrepareGraph(graph, 3, Reference()), "memory");
    entries.Add(PrepareGraph(graph, 2, Reference()), "bfs");
    const MemoryLayout shared = PlanLayout(entries.Planned(), {});
    const MemoryLayout apart = PlanLayout(entries.Planned(), {.zones_apart = true});
    for (const MemoryLayout& layout : {shared, apart}) {
      ASSERT_LE(layout.lower_bound_bytes, layout.arena_bytes);
      ASSERT_EQ(layout.optimal, layout.lower_bound_bytes == layout.arena_bytes);
      ASSERT_NO_FATAL_FAILURE(ExpectDisjoint(layout));
      ++layouts;
      optimal += layout.optimal;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectZonesApart(apart));
    ASSERT_LE(shared.lower_bound_bytes, apart.arena_bytes);
    apart_larger += apart.arena_bytes > shared.arena_bytes;
  }
  EXPECT_GT(apart_larger, 30);
  EXPECT_GT(optimal, layouts * 9 / 10);
}

TEST(MemoryLayout, TheProblemOfAnEntryIsThePlannersOwn) {
  const Graph graph = PrepareGraph(MakeRandomGraph(11), 2, Reference());
  const Schedule schedule = FindOrder("memory")->Order(graph);
  const PlannedEntry entry{"step", &graph, &schedule};
  const MemoryProblem problem = TransientProblem(entry, {});
  const MemoryLayout layout = PlanLayout({entry}, {});
  EXPECT_EQ(PlanMemory(problem).peak_bytes, layout.transient_bytes);
  EXPECT_EQ(LowerBound(problem), layout.entries[0].transient_lower_bound);
}

}  // namespace
}  // namespace cgrun
