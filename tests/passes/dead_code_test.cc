// Dead code.
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

TEST(DeadCode, TakesOutWhatNothingReads) {
  PassGraph g;
  const ValueId x = g.Input("x");
  g.Input("unused");
  const ValueId kept = g.Node(OpId::relu, {x}, "kept");
  g.Node(OpId::exp, {g.Node(OpId::neg, {x}, "dead")}, "dead_too");
  g.Output(kept);
  EXPECT_TRUE(g.Run(passes::EliminateDeadCode));
  EXPECT_EQ(g.graph.nodes.size(), 1u);
  EXPECT_EQ(g.graph.values.size(), 2u);
  EXPECT_FALSE(g.Run(passes::EliminateDeadCode));
}

TEST(DeadCode, KeepsUpdatesAndEffects) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId state = g.builder.AddSource(Role::kRunningStatistic, Zone::kForward,
                                            {DType::kF32, Shape{3}}, "state");
  g.graph.parameters[state] = {};
  g.graph.updates.push_back({state, g.Node(OpId::add, {state, x}, "next")});
  g.Node(OpId::all_reduce, {x}, "sum");
  EXPECT_FALSE(g.Run(passes::EliminateDeadCode));
  EXPECT_EQ(g.graph.nodes.size(), 2u);
}

}  // namespace
}  // namespace cgrun
