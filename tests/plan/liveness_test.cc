// Compares lifespans with results by hand, and with their definition on random graphs.
#include "src/plan/liveness.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/compile_graph.h"
#include "tests/support/graph_maker.h"
#include "tests/support/random_graph.h"

namespace cgrun {
namespace {

void ExpectSpan(const Liveness& liveness, ValueId value, TimePoint lower, TimePoint upper) {
  EXPECT_EQ(liveness.values[value].lower, lower) << "value " << value.index;
  EXPECT_EQ(liveness.values[value].upper, upper) << "value " << value.index;
}

// c = a + b, d = 2c: when d is born, a and b are dead and c still lives.
TEST(Liveness, TraceOfTwoOperators) {
  GraphMaker make;
  const ValueId a = make.Feed("a", {4}), b = make.Feed("b", {4}), two = make.Scalar("two", 2);
  const ValueId c = make.Op(OpId::add, "c", {a, b});
  const ValueId d = make.Op(OpId::mul, "d", {two, c});
  make.Out(d, "d");
  const Liveness liveness = ComputeLiveness(make.graph(), FindOrder("serial")->Order(make.graph()));
  EXPECT_EQ(liveness.steps, 2);
  ExpectSpan(liveness, a, 0, 1);
  ExpectSpan(liveness, b, 0, 1);
  ExpectSpan(liveness, c, 0, 2);
  ExpectSpan(liveness, d, 1, 2);
  ExpectSpan(liveness, two, 0, 2);
}

TEST(Liveness, StateOutputsAndUpdatesLiveToTheEnd) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4}), unread = make.Feed("unread", {4});
  const ValueId w = make.State("w", {4}), unused = make.State("unused", {4});
  const ValueId next = make.Op(OpId::sub, "next", {w, x});
  const ValueId shown = make.Op(OpId::neg, "shown", {x});
  const ValueId dead = make.Op(OpId::relu, "dead", {shown});
  const ValueId last = make.Op(OpId::relu, "last", {x});
  make.Update(w, next);
  make.Out(shown, "shown");
  const Liveness liveness = ComputeLiveness(make.graph(), FindOrder("serial")->Order(make.graph()));
  ExpectSpan(liveness, x, 0, 4);
  ExpectSpan(liveness, unread, 0, 1);
  ExpectSpan(liveness, w, 0, 4);
  ExpectSpan(liveness, unused, 0, 4);
  ExpectSpan(liveness, next, 0, 4);
  ExpectSpan(liveness, shown, 1, 4);
  ExpectSpan(liveness, dead, 2, 3);
  ExpectSpan(liveness, last, 3, 4);
}

TEST(Liveness, WithoutNodesEverythingLivesForOneStep) {
  GraphMaker make;
  const ValueId x = make.Feed("x", {4}), w = make.State("w", {4});
  make.Out(x, "x");
  const Liveness liveness = ComputeLiveness(make.graph(), Schedule());
  EXPECT_EQ(liveness.steps, 1);
  ExpectSpan(liveness, x, 0, 1);
  ExpectSpan(liveness, w, 0, 1);
}

// Returns whether a value is needed at a step, by the definition: it is there, and somebody reads
// it then or later, or after the step.
bool IsNeeded(const Graph& graph, const Schedule& schedule, ValueId value, TimePoint time) {
  const Role role = graph.values[value].role;
  if (IsState(role) || role == Role::kConstant) return true;
  TimePoint born = 0;
  bool read = false;
  for (size_t t = 0; t < schedule.steps.size(); ++t) {
    const Node& node = graph.nodes[schedule.steps[t].node];
    const auto has = [&](const std::vector<ValueId>& ids) {
      return std::find(ids.begin(), ids.end(), value) != ids.end();
    };
    if (has(node.outputs)) born = static_cast<TimePoint>(t);
    if (static_cast<TimePoint>(t) >= time) read |= has(node.inputs);
  }
  for (const Output& output : graph.outputs) read |= output.value == value;
  for (const UpdateEdge& edge : graph.updates) read |= edge.next == value;
  return time == born || (time > born && read);
}

TEST(Liveness, AgreesWithItsDefinitionOnRandomGraphs) {
  int64_t alive = 0, dead = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Graph graph = PrepareGraph(MakeRandomGraph(seed), 2, *FindKernelLibrary("reference"));
    for (const OrderEntry& order : Orders()) {
      const Schedule schedule = order.Order(graph);
      const Liveness liveness = ComputeLiveness(graph, schedule);
      for (ValueId value : graph.values.ids()) {
        for (TimePoint time = 0; time < liveness.steps; ++time) {
          const Lifespan& span = liveness.values[value];
          const bool lives = span.lower <= time && time < span.upper;
          ASSERT_EQ(lives, IsNeeded(graph, schedule, value, time))
              << "seed " << seed << ", " << order.name << ", " << graph.values[value].name
              << " at step " << time;
          ++(lives ? alive : dead);
        }
      }
    }
  }
  EXPECT_GT(alive, 10000);
  EXPECT_GT(dead, 10000);
}

}  // namespace
}  // namespace cgrun
