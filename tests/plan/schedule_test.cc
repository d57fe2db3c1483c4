// Tests orders on graphs small enough to know the answer, and on random ones.
#include "src/plan/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/model/types.h"
#include "src/ops/reshape.h"
#include "src/plan/memory_layout.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

std::vector<std::string> NamesInOrder(const Graph& graph, const Schedule& schedule) {
  std::vector<std::string> names;
  for (const ScheduleStep& step : schedule.steps) names.push_back(graph.nodes[step.node].name);
  return names;
}

std::vector<std::string> Ordered(const Graph& graph, std::string_view order) {
  return NamesInOrder(graph, FindOrder(order)->Order(graph));
}

using Names = std::vector<std::string>;

// x feeds two branches: a1 a2 with large results, b1 b2 with small ones; both are inputs of `end`.
Graph TwoBranches() {
  GraphMaker make;
  const ValueId x = make.Feed("x", {8}), column = make.Feed("column", {4, 1});
  const ValueId a1 = make.Op(OpId::mul, "a1", {x, column});
  const ValueId b1 = make.Op(OpId::neg, "b1", {x});
  const ValueId a2 = make.Op(OpId::relu, "a2", {a1});
  const ValueId b2 = make.Op(OpId::relu, "b2", {b1});
  make.Out(make.Op(OpId::add, "end", {a2, b2}), "end");
  return make.graph();
}

TEST(Schedule, SerialIsTheOrderOfBuilding) {
  EXPECT_EQ(Ordered(TwoBranches(), "serial"), (Names{"a1", "b1", "a2", "b2", "end"}));
}

// Makes a node of a path.
ValueId OfPath(GraphMaker& make, int path, const std::string& name, std::vector<ValueId> inputs) {
  const ValueId value = make.Op(inputs.size() == 1 ? OpId::neg : OpId::mul, name, inputs);
  make.Producer(value).path = PathId(path);
  return value;
}

// Graphs are built forward first, then backward, then updates; a program runs path by path.
TEST(Schedule, SerialRunsAPathWithItsUpdateBeforeTheNext) {
  for (bool shared : {false, true}) {
    GraphMaker make;
    const ValueId x = make.Feed("x", {4});
    const ValueId v = make.State("v", {4}), w = make.State("w", {4});
    const ValueId forward1 = OfPath(make, 0, "forward1", {x, v});
    const ValueId forward2 = OfPath(make, 1, "forward2", {x, shared ? v : w});
    const ValueId backward1 = OfPath(make, 0, "backward1", {forward1, x});
    const ValueId backward2 = OfPath(make, 1, "backward2", {forward2, x});
    make.Update(v, OfPath(make, 0, "update1", {v, backward1}));
    make.Update(w, OfPath(make, 1, "update2", {w, backward2}));
    const Names apart = {"forward1", "backward1", "update1", "forward2", "backward2", "update2"};
    // The second path reads what the first one's update overwrites.
    const Names waits = {"forward1", "backward1", "forward2", "update1", "backward2", "update2"};
    EXPECT_EQ(Ordered(make.graph(), "serial"), shared ? waits : apart);
  }
}

TEST(Schedule, BreadthFirstRunsWhatBecameReadyFirst) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {8});
  const ValueId a1 = make.Op(OpId::neg, "a1", {x});
  const ValueId a2 = make.Op(OpId::relu, "a2", {a1});
  const ValueId a3 = make.Op(OpId::neg, "a3", {a2});
  const ValueId b1 = make.Op(OpId::relu, "b1", {x});
  const ValueId b2 = make.Op(OpId::neg, "b2", {b1});
  make.Out(make.Op(OpId::add, "end", {a3, b2}), "end");
  EXPECT_EQ(Ordered(make.graph(), "serial"), (Names{"a1", "a2", "a3", "b1", "b2", "end"}));
  EXPECT_EQ(Ordered(make.graph(), "bfs"), (Names{"a1", "b1", "a2", "b2", "a3", "end"}));
}

TEST(Schedule, DepthFirstFinishesTheBranchWithTheSmallerResults) {
  EXPECT_EQ(Ordered(TwoBranches(), "dfs"), (Names{"b1", "b2", "a1", "a2", "end"}));
}

int64_t TransientBound(const Graph& graph, std::string_view order) {
  const Schedule schedule = FindOrder(order)->Order(graph);
  return LowerBound(TransientProblem({"step", &graph, &schedule}, LayoutOptions()));
}

// There are k branches, each with a large value that is summed up at once. Depth-first holds one of
// them at a time, and breadth-first holds all.
TEST(Schedule, MemoryTakesTheOrderThatNeedsLeast) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1}), row = make.Feed("row", {1024});
  ValueId total = make.Feed("total", {1, 1});
  for (const std::string branch : {"1", "2", "3"}) {
    const ValueId large = make.Op(OpId::mul, "large" + branch, {x, row});
    const ValueId more = make.Op(OpId::neg, "more" + branch, {large});
    const ValueId sum = make.Op(OpId::reduce_sum, "sum" + branch, {more});
    total = make.Op(OpId::add, "total" + branch, {total, sum});
  }
  make.Out(total, "total");
  const Graph graph = PrepareGraph(make.graph(), 1, Reference());
  EXPECT_LT(TransientBound(graph, "dfs"), TransientBound(graph, "bfs"));
  EXPECT_LE(TransientBound(graph, "memory"),
            std::min(TransientBound(graph, "dfs"), TransientBound(graph, "serial")));
}

// The values that a path keeps for its backward part are gone before the next path has its own.
TEST(Schedule, MemoryHoldsOnePathAtATime) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {32, 1}), row = make.Feed("row", {1, 32});
  std::vector<ValueId> kept;
  for (int path : {0, 1}) {
    kept.push_back(OfPath(make, path, "kept" + std::to_string(path), {x, row}));
  }
  for (int path : {0, 1}) {
    const ValueId sum =
        make.Op(OpId::reduce_sum, "sum" + std::to_string(path), {kept[static_cast<size_t>(path)]});
    make.Producer(sum).path = PathId(path);
    make.Out(sum, "sum" + std::to_string(path));
  }
  const Graph graph = PrepareGraph(make.graph(), 1, Reference());
  EXPECT_LT(TransientBound(graph, "serial"), TransientBound(graph, "bfs"));
  EXPECT_LE(TransientBound(graph, "memory"),
            std::min(TransientBound(graph, "dfs"), TransientBound(graph, "serial")));
}

// `wide` would be first, but for what it adds to the peak before `sum` has freed the other one.
TEST(Schedule, LeastPeakRunsWhatRaisesThePeakLeast) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1}), row = make.Feed("row", {1024});
  const ValueId first = make.Op(OpId::mul, "first", {x, row});
  const ValueId wide = make.Op(OpId::mul, "wide", {x, row});
  const ValueId sum = make.Op(OpId::reduce_sum, "sum", {first});
  make.Out(make.Op(OpId::mul, "end", {wide, sum}), "end");
  EXPECT_EQ(Ordered(make.graph(), "least_peak"), (Names{"first", "sum", "wide", "end"}));
}

TEST(Schedule, AStateIsOverwrittenAfterItsLastReader) {
  GraphMaker make;
  const ValueId w = make.State("w", {4});
  const ValueId next = make.Op(OpId::neg, "next", {w});
  make.Op(OpId::relu, "late", {w});
  make.Update(w, next);
  for (const OrderEntry& order : Orders()) {
    EXPECT_EQ(Ordered(make.graph(), order.name), (Names{"late", "next"})) << order.name;
  }
}

// A view has the state's bytes: who reads the view reads the state.
TEST(Schedule, AStateIsOverwrittenAfterTheLastReaderOfItsView) {
  GraphMaker make;
  const ValueId w = make.State("w", {4});
  const ValueId next = make.Op(OpId::neg, "next", {w});
  const ValueId view =
      make.Op(OpId::reshape, "view", {w}, Attributes::Of(ReshapeAttributes{{2, 2}}));
  make.Op(OpId::relu, "late", {view});
  make.Update(w, next);
  EXPECT_EQ(Ordered(make.graph(), "serial"), (Names{"view", "late", "next"}));
}

TEST(Schedule, DependenciesAreCountedOncePerEdge) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4});
  const ValueId y = make.Op(OpId::relu, "y", {x});
  make.Op(OpId::mul, "square", {y, y});
  const Dependencies dependencies = DependenciesOf(make.graph());
  ASSERT_EQ(dependencies.successors[NodeId(0)].size(), 1u);
  EXPECT_EQ(dependencies.successors[NodeId(0)][0], NodeId(1));
  EXPECT_EQ(dependencies.predecessor_count[NodeId(1)], 1);
}

TEST(VerifySchedule, FindsWhatIsWrong) {
  const Graph graph = TwoBranches();
  Schedule schedule = FindOrder("serial")->Order(graph);
  EXPECT_EQ(VerifySchedule(graph, schedule), Names());
  std::swap(schedule.steps[0], schedule.steps[2]);
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"a2 runs before a1"});
  std::swap(schedule.steps[0], schedule.steps[2]);
  const ScheduleStep last = schedule.steps.back();
  schedule.steps.pop_back();
  EXPECT_EQ(VerifySchedule(graph, schedule)[0], "end never runs");
  schedule.steps.push_back(last);
  schedule.steps.push_back(last);
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"end runs twice"});
  schedule.steps.back().node = NodeId(99);
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"step 5 runs no node"});
}

// "a1" beside "b1" and "b2", then "a2".
Schedule InStreams() {
  return {
      {{NodeId(0), 1, 3}, {NodeId(1), 2, 1}, {NodeId(3), 2, 1}, {NodeId(2), 1, 1}, {NodeId(4)}}};
}

TEST(VerifySchedule, TakesStreams) {
  EXPECT_EQ(NamesInOrder(TwoBranches(), InStreams()), (Names{"a1", "b1", "b2", "a2", "end"}));
  EXPECT_EQ(VerifySchedule(TwoBranches(), InStreams()), Names());
}

TEST(VerifySchedule, FindsWhatIsWrongWithStreams) {
  const Graph graph = TwoBranches();
  Schedule schedule = InStreams();
  schedule.steps[3].stream = 2;
  EXPECT_EQ(VerifySchedule(graph, schedule), Names());  // behind b2 as well as beside a1
  schedule.steps[1].stream = 1;
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"b1 runs while another one has its threads"});
  schedule = InStreams();
  schedule.steps[2].stream = 0;
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"b2 runs while another one has its threads"});
  schedule = InStreams();
  schedule.steps[0].length = 4;
  EXPECT_EQ(VerifySchedule(graph, schedule)[0], "a2 runs before a1");
  schedule = InStreams();
  schedule.steps[1].stream = 3;
  EXPECT_EQ(VerifySchedule(graph, schedule), Names{"b1 is in stream 3 for 1 steps"});
}

TEST(VerifySchedule, FindsAStateThatIsOverwrittenTooEarly) {
  GraphMaker make;
  const ValueId w = make.State("w", {4});
  make.Update(w, make.Op(OpId::neg, "next", {w}));
  make.Op(OpId::relu, "late", {w});
  const Schedule schedule{{{NodeId(0), 0}, {NodeId(1), 0}}};
  EXPECT_EQ(VerifySchedule(make.graph(), schedule), Names{"next runs before late"});
}

TEST(Orders, AreKnownByName) {
  EXPECT_EQ(OrderNames(), (Names{"memory", "serial", "bfs", "dfs", "least_peak"}));
  EXPECT_EQ(FindOrder("random"), nullptr);
}

// src/model may not include src/plan, and so lists them a second time.
TEST(Orders, AreTheChoicesOfTheModelFile) {
  Names names = OrderNames(), choices = Choices(kOrderType);
  std::sort(names.begin(), names.end());
  std::sort(choices.begin(), choices.end());
  EXPECT_EQ(names, choices);
}

TEST(Orders, AreValidDeterministicAndDifferentOnRandomGraphs) {
  int differences = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 2, Reference());
    for (const OrderEntry& order : Orders()) {
      const Schedule schedule = order.Order(graph);
      ASSERT_EQ(VerifySchedule(graph, schedule), Names()) << seed << " " << order.name;
      ASSERT_EQ(NamesInOrder(graph, schedule), Ordered(graph, order.name)) << seed;
      ASSERT_LE(TransientBound(graph, "memory"), TransientBound(graph, order.name)) << seed;
      differences += NamesInOrder(graph, schedule) != Ordered(graph, "serial");
    }
  }
  EXPECT_GT(differences, 200);
}

TEST(Orders, TakeAGraphWithoutNodes) {
  GraphMaker make;
  make.Out(make.Feed("x", {4}), "x");
  for (const OrderEntry& order : Orders()) {
    EXPECT_TRUE(order.Order(make.graph()).steps.empty()) << order.name;
  }
}

}  // namespace
}  // namespace cgrun
