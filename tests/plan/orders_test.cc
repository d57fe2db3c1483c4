// Tests the parts of the orders. The memory of a step, kept from node to node, is compared with
// liveness and buffers of whole schedules. Window search is compared with all permutations. Moves
// around the peak are tested, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>

#include "src/plan/memory_layout.h"
#include "src/plan/orders/improve.h"
#include "src/plan/orders/step_memory.h"
#include "src/plan/orders/window_search.h"
#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

// The most transient bytes that are alive at a step of `order`.
Bytes PeakOfOrder(const Graph& graph, std::span<const NodeId> order) {
  StepMemory memory(graph);
  Bytes peak = 0;
  for (NodeId node : order) {
    peak = std::max(peak, memory.During(node));
    memory.Run(node);
  }
  return peak;
}

constexpr Bytes kNoLimit = std::numeric_limits<Bytes>::max();

Graph Prepared(const Graph& graph, int64_t batch = 1) {
  return PrepareGraph(graph, batch, *FindKernelLibrary("reference"));
}

NodeOrder NodesOf(const Schedule& schedule) {
  NodeOrder order;
  for (const ScheduleStep& step : schedule.steps) order.push_back(step.node);
  return order;
}

Schedule ScheduleOf(const NodeOrder& order) {
  Schedule schedule;
  for (NodeId node : order) schedule.steps.push_back({node, 0});
  return schedule;
}

NodeOrder Ordered(const Graph& graph, std::string_view order) {
  return NodesOf(FindOrder(order)->Order(graph));
}

std::vector<std::string> Names(const Graph& graph, const NodeOrder& order) {
  std::vector<std::string> names;
  for (NodeId node : order) names.push_back(graph.nodes[node].name);
  return names;
}

// A bound of sums of aligned sizes may leave out what the alignment of the topmost buffer adds.
TEST(StepMemory, IsWhatLivenessAndBuffersFind) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = Prepared(MakeRandomGraph(seed), 3);
    for (const OrderEntry& order : Orders()) {
      const Schedule schedule = order.Order(graph);
      const Bytes bound = LowerBound(TransientProblem({"step", &graph, &schedule}, {}, false));
      const Bytes peak = PeakOfOrder(graph, NodesOf(schedule));
      ASSERT_GE(peak, bound) << seed << " " << order.name;
      ASSERT_LT(peak, bound + kDefaultAlignment) << seed << " " << order.name;
    }
  }
}

// A kernel names the pairs of all its operands, and a node may have fewer.
TEST(StepMemory, OverlooksOperandsThatANodeHasNot) {
  GraphMaker make;
  make.Out(make.Op(OpId::neg, "y", {make.Feed("x", {64})}), "y");
  Graph graph = Prepared(make.graph());
  const Bytes peak = PeakOfOrder(graph, {{NodeId(0)}});
  graph.nodes[NodeId(0)].kernel->in_place.insert(
      graph.nodes[NodeId(0)].kernel->in_place.begin(),
      {{.input = 0, .output = 7}, {.input = 7, .output = 0}});
  EXPECT_EQ(PeakOfOrder(graph, {{NodeId(0)}}), peak);
}

TEST(StepMemory, TakesBackWhatRan) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Graph graph = Prepared(MakeRandomGraph(seed), 3);
    StepMemory memory(graph);
    std::vector<Bytes> during, alive;
    const NodeOrder order = Ordered(graph, "bfs");
    for (NodeId node : order) {
      alive.push_back(memory.alive());
      during.push_back(memory.During(node));
      memory.Run(node);
    }
    for (size_t i = order.size(); i-- > 0;) {
      memory.Undo(order[i]);
      ASSERT_EQ(memory.alive(), alive[i]) << seed;
      ASSERT_EQ(memory.During(order[i]), during[i]) << seed;
    }
  }
}

// Returns the lowest peak of all orders of a graph.
Bytes LeastPeakOfAll(const Graph& graph) {
  NodeOrder order = Ordered(graph, "serial");
  std::sort(order.begin(), order.end());
  Bytes least = kNoLimit;
  do {
    if (VerifySchedule(graph, ScheduleOf(order)).empty()) {
      least = std::min(least, PeakOfOrder(graph, order));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(WindowSearch, FindsTheBestOfAllOrders) {
  int compared = 0, improved = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const Graph graph = Prepared(MakeRandomGraph(seed, {.operators = 5, .learning = false}), 3);
    if (graph.nodes.size() < 2 || graph.nodes.size() > 6) continue;
    NodeOrder order = Ordered(graph, "bfs");
    const Bytes before = PeakOfOrder(graph, order);
    StepMemory memory(graph);
    int64_t budget = 1'000'000;
    const bool found = FindWindowOrder(DependenciesOf(graph), before, memory, order, budget);
    const Bytes peak = PeakOfOrder(graph, order);
    ASSERT_EQ(VerifySchedule(graph, ScheduleOf(order)), std::vector<std::string>()) << seed;
    ASSERT_EQ(found, peak < before) << seed;
    ASSERT_EQ(peak, LeastPeakOfAll(graph)) << seed;
    ++compared;
    improved += found;
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(improved, 10);
}

TEST(WindowSearch, EndsWithItsBudget) {
  const Graph graph = Prepared(MakeRandomGraph(3, {.operators = 12, .learning = false}), 3);
  NodeOrder order = Ordered(graph, "serial");
  order.resize(std::min(order.size(), kMostWindowNodes));
  const NodeOrder before = order;
  StepMemory memory(graph);
  int64_t budget = 1;
  EXPECT_FALSE(FindWindowOrder(DependenciesOf(graph), kNoLimit, memory, order, budget));
  EXPECT_EQ(budget, 0);
  EXPECT_EQ(order, before);
}

// `large` is made long before `end` reads it: behind the peak, which the chain of x makes, it is
// soon enough. More nodes than a window holds lie between them.
TEST(Improve, DelaysWhatIsMadeTooSoon) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1}), row = make.Feed("row", {1024});
  const ValueId large = make.Op(OpId::mul, "large", {x, row});
  ValueId last = x;
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    const ValueId wide = make.Op(OpId::mul, "wide" + name, {last, row});
    last = make.Op(OpId::reduce_sum, "sum" + name, {wide});
  }
  make.Out(make.Op(OpId::add, "end", {large, last}), "end");
  const Graph graph = Prepared(make.graph());
  const NodeOrder before = Ordered(graph, "serial");
  const NodeOrder after = ImproveAtPeak(graph, DependenciesOf(graph), before);
  EXPECT_EQ(VerifySchedule(graph, ScheduleOf(after)), std::vector<std::string>());
  EXPECT_LT(PeakOfOrder(graph, after), PeakOfOrder(graph, before));
  EXPECT_EQ(Names(graph, before).front(), "large");
  EXPECT_NE(Names(graph, after).front(), "large");
}

// `small` is all that is read of `large`, and could be made before the chain whose middle is the
// peak.
TEST(Improve, AdvancesWhatFrees) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {1}), row = make.Feed("row", {1024});
  const ValueId large = make.Op(OpId::mul, "large", {x, row});
  ValueId last = x;
  for (int i = 0; i < 40; ++i) {
    const std::string name = std::to_string(i);
    const ValueId wide = make.Op(OpId::mul, "wide" + name, {last, row});
    last = make.Op(OpId::reduce_sum, "sum" + name, {wide});
  }
  const ValueId more = make.Op(OpId::neg, "more", {large});
  make.Out(make.Op(OpId::reduce_sum, "small", {more}), "small");
  make.Out(last, "last");
  const Graph graph = Prepared(make.graph());
  const NodeOrder before = Ordered(graph, "serial");
  const NodeOrder after = ImproveAtPeak(graph, DependenciesOf(graph), before);
  EXPECT_EQ(VerifySchedule(graph, ScheduleOf(after)), std::vector<std::string>());
  EXPECT_LT(PeakOfOrder(graph, after), PeakOfOrder(graph, before));
}

TEST(Improve, NeverMakesAnOrderWorse) {
  int improved = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Graph graph = Prepared(MakeRandomGraph(seed), 3);
    const NodeOrder before = Ordered(graph, "bfs");
    const NodeOrder after = ImproveAtPeak(graph, DependenciesOf(graph), before);
    ASSERT_EQ(VerifySchedule(graph, ScheduleOf(after)), std::vector<std::string>()) << seed;
    ASSERT_LE(PeakOfOrder(graph, after), PeakOfOrder(graph, before)) << seed;
    ASSERT_EQ(after, ImproveAtPeak(graph, DependenciesOf(graph), before)) << seed;
    improved += PeakOfOrder(graph, after) < PeakOfOrder(graph, before);
  }
  EXPECT_GT(improved, 5);
}

// Returns the order that `least_peak` defines, node by node. It takes the ready node with the
// lowest peak, then with the fewest bytes left behind, then the one that has been ready longest.
NodeOrder LeastPeakByDefinition(const Graph& graph) {
  const Dependencies dependencies = DependenciesOf(graph);
  IdVector<NodeId, int> missing = dependencies.predecessor_count;
  StepMemory memory(graph);
  NodeOrder ready, order;
  Bytes peak = 0;
  for (NodeId node : graph.nodes.ids()) {
    if (missing[node] == 0) ready.push_back(node);
  }
  const auto key = [&](NodeId node) {
    const Bytes during = std::max(peak, memory.During(node));
    memory.Run(node);
    const Bytes left = memory.alive();
    memory.Undo(node);
    return std::pair(during, left);
  };
  while (!ready.empty()) {
    const auto best = std::ranges::min_element(ready, {}, key);
    order.push_back(*best);
    ready.erase(best);
    peak = std::max(peak, memory.During(order.back()));
    memory.Run(order.back());
    for (NodeId successor : dependencies.successors[order.back()]) {
      if (--missing[successor] == 0) ready.push_back(successor);
    }
  }
  return order;
}

TEST(LeastPeak, IsWhatItsDefinitionSays) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Graph graph = Prepared(MakeRandomGraph(seed, {.operators = 40}), 3);
    ASSERT_EQ(Ordered(graph, "least_peak"), LeastPeakByDefinition(graph)) << seed;
  }
}

// Two layers learn. The gradient of the second is consumed before that of the first is made.
TEST(Memory, ConsumesAGradientAsSoonAsItIsThere) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {64});
  const ValueId v = make.State("v", {64}), w = make.State("w", {64});
  const ValueId hidden = make.Op(OpId::mul, "hidden", {x, v});
  make.phase = Phase::kBackward;
  const ValueId dw = make.Op(OpId::neg, "dw", {hidden});
  const ValueId dhidden = make.Op(OpId::mul, "dhidden", {hidden, w});
  const ValueId dv = make.Op(OpId::mul, "dv", {dhidden, x});
  make.phase = Phase::kUpdate;
  make.Update(v, make.Op(OpId::sub, "v.next", {v, dv}));
  make.Update(w, make.Op(OpId::sub, "w.next", {w, dw}));
  const Graph graph = Prepared(make.graph());
  const std::vector<std::string> names = Names(graph, Ordered(graph, "memory"));
  const auto place = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  EXPECT_LT(place("w.next"), place("dv"));
}

}  // namespace
}  // namespace cgrun
