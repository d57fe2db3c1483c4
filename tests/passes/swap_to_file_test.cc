// Tests the rewrite that adds swaps to a graph.
#include <algorithm>

#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

TEST(SwapToFile, GivesLateReadersWhatComesBack) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId large = g.Node(OpId::exp, {x}, "large");
  const ValueId early = g.Node(OpId::neg, {large}, "early");
  const ValueId late = g.Node(OpId::mul, {early, large}, "late");
  g.Output(late);
  const HostTensor input = HostTensor::Of<float>({3}, {0.5, -1, 2});
  const HostTensor before = g.Evaluate(input);
  RematPlan plan;
  plan.swap.push_back({large, {g.graph.values[late].producer}, 0.5, 0.25});
  EXPECT_TRUE(g.Run(passes::SwapToFile, false, &plan));
  EXPECT_EQ(g.Evaluate(input), before);
  const Node& reader = g.graph.nodes[g.graph.values[late].producer];
  EXPECT_EQ(reader.inputs[0], early);
  const ValueId back = reader.inputs[1];
  EXPECT_EQ(g.graph.values[back].name, "large.swap_in.wait");
  EXPECT_EQ(g.graph.nodes[g.graph.values[early].producer].inputs[0], large);
  const ValueId file = g.graph.FindValue("large.swap_out");
  for (ValueId id : g.graph.values.ids()) {
    EXPECT_EQ(ArenaOf(g.graph, id) == ArenaKind::kFile, id == file) << g.graph.values[id].name;
  }
  EXPECT_EQ(g.graph.nodes[g.graph.values[file].producer].kernel->seconds, 0.5);
  EXPECT_FALSE(g.Run(passes::EliminateDeadCode));
  EXPECT_FALSE(g.Run(passes::MergeCommonSubexpressions));
}

// The read depends on the finished write, in any order of the graph.
TEST(SwapToFile, MakesEachStepDependOnTheOneBefore) {
  PassGraph g;
  const ValueId large = g.Node(OpId::exp, {g.Input("x")}, "large");
  const ValueId late = g.Node(OpId::neg, {large}, "late");
  g.Output(late);
  RematPlan plan;
  plan.swap.push_back({large, {g.graph.values[late].producer}});
  ASSERT_TRUE(g.Run(passes::SwapToFile, false, &plan));
  std::vector<OpId> order;
  for (NodeId id : TopologicalOrder(g.graph)) order.push_back(g.graph.nodes[id].op);
  EXPECT_EQ(order, (std::vector{OpId::exp, OpId::swap_out, OpId::swap_out_wait, OpId::swap_in,
                                OpId::swap_in_wait, OpId::neg}));
}

TEST(SwapToFile, DoesNothingWithoutAPlan) {
  PassGraph g;
  g.Output(g.Node(OpId::relu, {g.Input("x")}, "y"));
  EXPECT_FALSE(g.Run(passes::SwapToFile));
  const RematPlan empty;
  EXPECT_FALSE(g.Run(passes::SwapToFile, false, &empty));
}

}  // namespace
}  // namespace cgrun
