// Rematerialisation.
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

TEST(Rematerialise, GivesLateReadersACopyOfTheirOwn) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId large = g.Node(OpId::exp, {x}, "large");
  const ValueId early = g.Node(OpId::neg, {large}, "early");
  const ValueId late = g.Node(OpId::mul, {early, large}, "late");
  g.Output(late);
  const HostTensor input = HostTensor::Of<float>({3}, {0.5, -1, 2});
  const HostTensor before = g.Evaluate(input);
  RematPlan plan;
  plan.recompute.push_back({{g.graph.values[large].producer}, {g.graph.values[late].producer}});
  EXPECT_TRUE(g.Run(passes::Rematerialise, false, &plan));
  EXPECT_EQ(g.Count(OpId::exp), 2);
  EXPECT_EQ(g.Evaluate(input), before);
  EXPECT_FALSE(g.Run(passes::MergeCommonSubexpressions)) << "a copy made on purpose stays";
}

TEST(Rematerialise, DoesNothingWithoutAPlan) {
  PassGraph g;
  g.Output(g.Node(OpId::relu, {g.Input("x")}, "y"));
  EXPECT_FALSE(g.Run(passes::Rematerialise));
  const RematPlan empty;
  EXPECT_FALSE(g.Run(passes::Rematerialise, false, &empty));
}

}  // namespace
}  // namespace cgrun
