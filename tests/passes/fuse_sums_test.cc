// Fusion of products with the additions behind them, for a device that does not exist: it has a
// kernel for the two, at a price.
#include "src/ops/matmul.h"
#include "src/ops/reduce.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

class FuseSums : public testing::Test {
 protected:
  // Returns what one use of a weight of [2, 3] adds to its gradient.
  ValueId Product(const std::string& use, int64_t rows = 1) {
    return g_.Node(OpId::matmul, {g_.Input("dy" + use, {rows, 2}), g_.Input("x" + use, {rows, 3})},
                   "dweight" + use, Attributes::Of(MatmulAttributes{true, false}));
  }
  ValueId Sum(ValueId a, ValueId b, const std::string& name = "sum") {
    return g_.Node(OpId::add, {a, b}, name);
  }
  bool Run() { return g_.RunFor(target_, passes::FuseSums); }

  FusingTarget target_;
  PassGraph g_;
};

TEST_F(FuseSums, JoinsAProductAndItsAddition) {
  const ValueId others = g_.Input("others", {2, 3});
  g_.Output(Sum(others, Product("")));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(fused.op, OpId::fused);
  EXPECT_EQ(fused.name, "sum");
  ASSERT_EQ(fused.inputs.size(), 3u);
  EXPECT_EQ(fused.inputs[2], g_.graph.FindValue("others"));
  ASSERT_EQ(fused.body.size(), 2u);
  EXPECT_EQ(fused.body[0].operands, (std::vector<int>{0, 1}));
  EXPECT_EQ(fused.body[1].op, OpId::add);
  EXPECT_EQ(fused.body[1].operands, (std::vector<int>{2, -1}));
  EXPECT_EQ(InPlacePairsOf(fused.op, fused.body), (std::vector<InPlacePair>{{2, 0}}));
  EXPECT_FALSE(g_.graph.FindValue("dweight").valid()) << "it is no value any more";
  EXPECT_FALSE(Run());
}

// All gradients of the uses of a weight but one join the sum of the others.
TEST_F(FuseSums, JoinsAChainOfSums) {
  ValueId sum = Product("0");
  for (const std::string use : {"1", "2", "3", "4"}) sum = Sum(sum, Product(use), "sum" + use);
  g_.Output(sum);
  EXPECT_TRUE(Run());
  EXPECT_EQ(g_.Count(OpId::matmul), 1);
  EXPECT_EQ(g_.Count(OpId::fused), 4);
  EXPECT_EQ(g_.Count(OpId::add), 0);
}

// Two uses a sweep over a weight of 8 x 8: what one reads is half of that, what two read is more.
TEST_F(FuseSums, JoinsASweepOfSums) {
  ValueId sum = g_.Input("others", {8, 8});
  const auto product = [&](const std::string& use) {
    return g_.Node(OpId::matmul, {g_.Input("dy" + use, {2, 8}), g_.Input("x" + use, {2, 8})},
                   "dweight" + use, Attributes::Of(MatmulAttributes{true, false}));
  };
  for (const std::string use : {"0", "1", "2"}) sum = Sum(sum, product(use), "sum" + use);
  g_.Output(sum);
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.Count(OpId::fused), 2);
  EXPECT_EQ(g_.graph.nodes.size(), 2u);
  const Node& two = g_.graph.nodes[g_.graph.values[g_.graph.FindValue("sum1")].producer];
  std::vector<std::string> inputs;
  for (const ValueId input : two.inputs) inputs.push_back(g_.graph.values[input].name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"dy0", "x0", "others", "dy1", "x1"}));
  ASSERT_EQ(two.body.size(), 4u);
  EXPECT_EQ(two.body[2].operands, (std::vector<int>{3, 4}));
  EXPECT_EQ(two.body[3].operands, (std::vector<int>{-2, -3}));
  EXPECT_EQ(InPlacePairsOf(two.op, two.body), (std::vector<InPlacePair>{{2, 0}}));
}

TEST_F(FuseSums, GivesTheSameNumbers) {
  ValueId sum = g_.Input("others", {4, 4});
  for (int use = 0; use < 3; ++use) {
    const ValueId dy =
        g_.Node(OpId::reduce_sum, {g_.Input("input" + std::to_string(use), {4, 4})},
                "dy" + std::to_string(use), Attributes::Of(ReduceAttributes{{0}, true}));
    sum = Sum(g_.Node(OpId::matmul, {dy, dy}, "product" + std::to_string(use),
                      Attributes::Of(MatmulAttributes{true, false})),
              sum, "sum" + std::to_string(use));
  }
  g_.Output(sum);
  HostTensor x(DType::kF32, Shape{4, 4});
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, 0.1 * static_cast<double>(i * i % 7) - 0.3);
  const HostTensor before = g_.Evaluate(x);
  EXPECT_TRUE(Run());
  EXPECT_EQ(g_.Count(OpId::fused), 2) << "one of them of two uses";
  EXPECT_EQ(g_.Evaluate(x), before);
}

// They would wait for the sum.
TEST_F(FuseSums, LeavesProductsThatReadMoreThanTheyGive) {
  g_.Output(Sum(g_.Input("others", {2, 3}), Product("", /*rows=*/2)));
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesAProductThatOthersRead) {
  const ValueId product = Product("");
  g_.Output(Sum(g_.Input("others", {2, 3}), product));
  g_.Output(g_.Node(OpId::exp, {product}, "exp"), "exp");
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesAProductThatIsKept) {
  const ValueId product = Product("");
  g_.Output(Sum(g_.Input("others", {2, 3}), product));
  g_.Output(product, "product");
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesAProductThatIsAddedToItself) {
  const ValueId product = Product("");
  g_.Output(Sum(product, product));
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesWhatIsNoProduct) {
  g_.Output(Sum(g_.Input("others", {2, 3}), g_.Node(OpId::neg, {g_.Input("x", {2, 3})}, "neg")));
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesWhatIsNoSum) {
  g_.Output(g_.Node(OpId::mul, {g_.Input("others", {2, 3}), Product("")}, "mul"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesWhatIsSlowerTogether) {
  target_.fused_seconds = 3;
  g_.Output(Sum(g_.Input("others", {2, 3}), Product("")));
  EXPECT_FALSE(Run());
}

TEST_F(FuseSums, LeavesWhatTakesAsMuchMemoryTogether) {
  target_.fused_workspace = 4 * 2 * 3;  // as the product
  g_.Output(Sum(g_.Input("others", {2, 3}), Product("")));
  EXPECT_FALSE(Run());
  target_.fused_workspace -= 1;
  EXPECT_TRUE(Run());
}

// Its fused kernel runs them in turn, and needs memory for the product between them.
TEST_F(FuseSums, GivesTheReferenceDeviceNothing) {
  g_.Output(Sum(g_.Input("others", {2, 3}), Product("")));
  EXPECT_FALSE(g_.Run(passes::FuseSums));
}

}  // namespace
}  // namespace cgrun
