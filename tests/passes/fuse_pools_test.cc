// Fusion of convolutions with the pools behind them, and of the gradients of pools with what reads
// them, for a device that does not exist: it has a kernel for them together, at a price.
#include "src/ops/conv.h"
#include "src/ops/pool.h"
#include "src/ops/reduce.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

constexpr int64_t kBetween = 4 * 2 * 8 * 6 * 6;  // bytes of what the convolution gives

class FusePools : public testing::Test {
 protected:
  // Makes y = conv(x), with 8 filters of 3 × 3 on 2 images.
  ValueId Convolution() {
    ConvAttributes conv;
    conv.filters = 8;
    conv.kernel = {3, 3};
    conv.bias = false;
    return g_.Node(OpId::conv, {g_.Input("x", {2, 3, 8, 8}), g_.Input("w", {8, 3, 3, 3})}, "conv",
                   Attributes::Of(conv));
  }
  ValueId Pooled(ValueId y) {
    MaxPoolAttributes pool;
    pool.kernel = {2, 2};
    return g_.Node(OpId::max_pool, {y}, "pool", Attributes::Of(pool));
  }
  // The gradient of a pool of y, which is not there by itself.
  ValueId Unpooled() {
    const ValueId index = g_.builder.AddSource(Role::kPlaceholder, Zone::kForward,
                                               {DType::kU8, {2, 8, 3, 3}}, "index");
    return Backward(OpId::max_pool_grad,
                    Attributes::Of(PoolGradAttributes{{2, 8, 6, 6}, {2, 2}, {}}),
                    {index, g_.Input("dpooled", {2, 8, 3, 3})}, "pool.dx");
  }
  ValueId WeightGradient(ValueId dy) {
    return Backward(OpId::conv_weight_grad, Gradient(), {g_.Input("x", {2, 3, 8, 8}), dy},
                    "dweight");
  }
  ValueId BiasGradient(ValueId dy) {
    return Backward(OpId::reduce_sum, Attributes::Of(ReduceAttributes{{0, 2, 3}}), {dy}, "dbias");
  }
  Attributes Gradient() { return Attributes::Of(ConvGradAttributes{{2, 3, 8, 8}, {3, 3}}); }
  ValueId Backward(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                   const std::string& name) {
    Builder::NodeOptions options;
    options.phase = Phase::kBackward;
    return g_.builder.AddNode(op, std::move(attributes), std::move(inputs), name, options)[0];
  }
  bool Run() { return g_.RunFor(target_, passes::FusePools); }

  FusingTarget target_;
  PassGraph g_;
};

TEST_F(FusePools, JoinsAConvolutionAndItsPool) {
  g_.Output(Pooled(Convolution()));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(fused.name, "pool");
  EXPECT_EQ(fused.outputs.size(), 2u);
  ASSERT_EQ(fused.body.size(), 2u);
  EXPECT_EQ(fused.body[0].op, OpId::conv);
  EXPECT_EQ(fused.body[0].operands, (std::vector<int>{0, 1}));
  EXPECT_EQ(fused.body[1].op, OpId::max_pool);
  EXPECT_EQ(fused.body[1].operands, (std::vector<int>{-1}));
  EXPECT_FALSE(Run());
}

TEST_F(FusePools, GoesOnFromAnActivation) {
  g_.Output(Pooled(g_.Node(OpId::relu, {Convolution()}, "relu")));
  EXPECT_TRUE(g_.RunFor(target_, passes::FuseActivations));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  ASSERT_EQ(fused.body.size(), 3u);
  EXPECT_EQ(fused.body[1].op, OpId::relu);
  EXPECT_EQ(fused.body[2].op, OpId::max_pool);
  EXPECT_EQ(fused.body[2].operands, (std::vector<int>{-2}));
}

TEST_F(FusePools, LeavesAResultThatOthersRead) {
  const ValueId y = Convolution();
  g_.Output(Pooled(y));
  g_.Output(g_.Node(OpId::exp, {y}, "exp"), "other");
  EXPECT_FALSE(Run());
}

TEST_F(FusePools, LeavesAResultThatIsKept) {
  const ValueId y = Convolution();
  g_.Output(Pooled(y));
  g_.Output(y, "kept");
  EXPECT_FALSE(Run());
}

TEST_F(FusePools, LeavesWhatIsNoConvolution) {
  g_.Output(Pooled(g_.Node(OpId::exp, {g_.Input("x", {2, 8, 6, 6})}, "exp")));
  EXPECT_FALSE(Run());
}

TEST_F(FusePools, LeavesWhatIsSlowerTogether) {
  target_.fused_seconds = 2;
  g_.Output(Pooled(Convolution()));
  EXPECT_FALSE(Run());
}

TEST_F(FusePools, LeavesWhatTakesAsMuchMemoryTogether) {
  target_.fused_workspace = kBetween;
  g_.Output(Pooled(Convolution()));
  EXPECT_FALSE(Run());
  target_.fused_workspace -= 1;
  EXPECT_TRUE(Run());
}

TEST_F(FusePools, GivesEachReaderOfAGradientItsOwn) {
  const ValueId dy = Unpooled();
  g_.Output(WeightGradient(dy), "dweight");
  g_.Output(BiasGradient(dy), "dbias");
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 2u);
  for (const Node& fused : g_.graph.nodes) {
    ASSERT_EQ(fused.body.size(), 2u);
    EXPECT_EQ(fused.body[0].op, OpId::max_pool_grad);
    const bool of_weight = fused.body[1].op == OpId::conv_weight_grad;
    EXPECT_EQ(fused.body[1].operands, of_weight ? (std::vector<int>{2, -1}) : std::vector<int>{-1});
  }
  EXPECT_FALSE(g_.graph.FindValue("pool.dx").valid()) << "it is no value any more";
  EXPECT_FALSE(Run());
}

// Once for each reader takes longer than once for all.
TEST_F(FusePools, LeavesAGradientOfSoManyReadersThatItDoesNotPay) {
  const ValueId dy = Unpooled();
  g_.Output(WeightGradient(dy), "dweight");
  g_.Output(BiasGradient(dy), "dbias");
  target_.fused_seconds = 1.5;  // 3 in all, as the three by themselves
  EXPECT_FALSE(Run());
  target_.fused_seconds = 1.4;
  EXPECT_TRUE(Run());
}

TEST_F(FusePools, LeavesAGradientThatIsKept) {
  const ValueId dy = Unpooled();
  g_.Output(WeightGradient(dy), "dweight");
  g_.Output(dy, "kept");
  EXPECT_FALSE(Run());
}

// Its fused kernel runs them in turn, and needs memory for what is between them.
TEST_F(FusePools, GivesTheReferenceDeviceNothing) {
  g_.Output(Pooled(Convolution()));
  EXPECT_FALSE(g_.Run(passes::FusePools));
}

}  // namespace
}  // namespace cgrun
