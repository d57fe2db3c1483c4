// Fusion of convolutions in inference with the batch_norm behind them, for a device that does not
// exist: it has a kernel for them together, at a price.
#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

class FuseNorms : public testing::Test {
 protected:
  ValueId Convolution(const std::string& name = "conv") {
    ConvAttributes conv;
    conv.filters = 4;
    conv.kernel = {3, 3};
    return g_.Node(OpId::conv, {x_, g_.Input("w", {4, 3, 3, 3}), g_.Input("b", {4})}, name,
                   Attributes::Of(conv));
  }
  ValueId Norm(ValueId x, const std::string& name = "norm") {
    BatchNormAttributes norm;
    norm.training = false;
    return g_.Node(OpId::batch_norm,
                   {x, g_.Input("scale", {4}), g_.Input("shift", {4}), g_.Input("mean", {4}),
                    g_.Input("variance", {4})},
                   name, Attributes::Of(norm));
  }
  ValueId Sum(ValueId a, ValueId b) { return g_.Node(OpId::add, {a, b}, "sum"); }
  ValueId Relu(ValueId x) { return g_.Node(OpId::relu, {x}, "relu"); }
  bool Run() { return g_.RunFor(target_, passes::FuseNorms); }
  std::vector<OpId> Body() const {
    std::vector<OpId> ops;
    for (const FusedOperator& op :
         g_.graph.nodes[NodeId(static_cast<int>(g_.graph.nodes.size()) - 1)].body)
      ops.push_back(op.op);
    return ops;
  }
  using Ops = std::vector<OpId>;

  FusingTarget target_;
  PassGraph g_;
  ValueId x_ = g_.Input("x", {2, 3, 8, 8});
  ValueId shortcut_ = g_.Input("shortcut", {2, 4, 6, 6});
};

TEST_F(FuseNorms, JoinsAConvolutionAndItsNorm) {
  g_.Output(Norm(Convolution()));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(fused.name, "norm");
  EXPECT_EQ(Body(), (Ops{OpId::conv, OpId::batch_norm}));
  EXPECT_EQ(fused.body[0].operands, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(fused.body[1].operands, (std::vector<int>{-1, 3, 4, 5, 6}));
  EXPECT_FALSE(Run());
}

TEST_F(FuseNorms, TakesASumWithItAndWhatIsBehindThat) {
  g_.Output(Relu(Sum(shortcut_, Norm(Convolution()))));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  EXPECT_EQ(Body(), (Ops{OpId::conv, OpId::batch_norm, OpId::add, OpId::relu}));
  EXPECT_EQ(g_.graph.nodes[NodeId(0)].body[2].operands, (std::vector<int>{7, -2}));
}

TEST_F(FuseNorms, GivesASumOfTwoOfThemToOne) {
  g_.Output(Sum(Norm(Convolution("a"), "norm_a"), Norm(Convolution("b"), "norm_b")));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 2u);
  EXPECT_EQ(g_.Count(OpId::fused), 2);
  EXPECT_EQ(g_.Count(OpId::add), 0);
}

TEST_F(FuseNorms, LeavesWhatOthersReadAndWhatDoesNotPay) {
  const ValueId conv = Convolution();
  g_.Output(Sum(Norm(conv), conv));
  EXPECT_FALSE(Run());
  g_.graph.outputs.clear();
  g_.Output(Norm(Convolution("other"), "other_norm"));
  target_.fused_seconds = 2;
  EXPECT_FALSE(Run()) << "as long as both";
  target_.fused_seconds = 1;
  EXPECT_TRUE(Run());
}

TEST_F(FuseNorms, LeavesTraining) {
  const ValueId y =
      g_.builder.AddNode(OpId::batch_norm, Attributes::Of(BatchNormAttributes()),
                         {Convolution(), g_.Input("scale", {4}), g_.Input("shift", {4}),
                          g_.Input("mean", {4}), g_.Input("variance", {4})},
                         "norm", {})[0];
  g_.Output(y);
  EXPECT_FALSE(Run()) << "its statistics are those of what the convolution gives";
}

}  // namespace
}  // namespace cgrun
