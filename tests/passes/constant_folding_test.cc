// Constant folding.
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

TEST(ConstantFolding, EvaluatesNodesOfConstants) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId two = g.Constant({2, 2, 2}, "two"), three = g.Constant({3, 4, 5}, "three");
  g.Output(g.Node(OpId::add, {x, g.Node(OpId::mul, {two, three}, "six")}, "y"));
  const HostTensor ones = HostTensor::Of<float>({3}, {1, 1, 1});
  const HostTensor before = g.Evaluate(ones);
  EXPECT_TRUE(g.Run(passes::FoldConstants));
  EXPECT_EQ(g.Evaluate(ones), before);
  const ValueId folded = g.graph.nodes[g.graph.values[g.graph.outputs[0].value].producer].inputs[1];
  ASSERT_TRUE(g.graph.constants.contains(folded));
  EXPECT_EQ(g.graph.constants.at(folded), HostTensor::Of<float>({3}, {6, 8, 10}));
  EXPECT_FALSE(g.Run(passes::FoldConstants)) << "what is left over is for dead code";
}

TEST(ConstantFolding, LeavesWhatDependsOnInputsOrTheBatch) {
  PassGraph g;
  const ValueId x = g.Input("x", {kBatchDim});
  g.Output(g.Node(OpId::neg, {x}, "y"));
  EXPECT_FALSE(g.Run(passes::FoldConstants));
}

}  // namespace
}  // namespace cgrun
