// Constant folding.
#include <limits>

#include "src/ops/reshape.h"
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

// To the bit, whatever the numbers, and of any size: a view takes no more memory than its constant.
TEST(ConstantFolding, ReshapesConstants) {
  PassGraph g;
  std::vector<float> numbers(4096, -0.0F);
  numbers[1] = std::numeric_limits<float>::quiet_NaN();
  numbers[2] = -std::numeric_limits<float>::infinity();
  const ValueId reshaped = g.Node(OpId::reshape, {g.Constant(numbers, "numbers")}, "reshaped",
                                  Attributes::Of(ReshapeAttributes{{64, 64}}));
  g.Output(reshaped);
  EXPECT_TRUE(g.Run(passes::FoldConstants));
  ASSERT_TRUE(g.graph.constants.contains(g.graph.outputs[0].value));
  EXPECT_EQ(g.graph.constants.at(g.graph.outputs[0].value),
            HostTensor::Of<float>({64, 64}, numbers));
}

TEST(ConstantFolding, LeavesWhatDependsOnInputsOrTheBatch) {
  PassGraph g;
  const ValueId x = g.Input("x", {kBatchDim});
  g.Output(g.Node(OpId::neg, {x}, "y"));
  EXPECT_FALSE(g.Run(passes::FoldConstants));
}

}  // namespace
}  // namespace cgrun
