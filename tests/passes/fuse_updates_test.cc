// Fusion of optimizers with the products that make their gradients, for a device that does not
// exist: it has a kernel for the two, at a price.
#include "src/ops/matmul.h"
#include "src/ops/optimizer.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

class FuseUpdates : public testing::Test {
 protected:
  FuseUpdates() {
    weight_ = State(Role::kParameter, {2, 3}, "weight");
    momentum_ = State(Role::kOptimizerState, {2, 3}, "momentum");
    rate_ =
        g_.builder.AddSource(Role::kPlaceholder, Zone::kOptimizer, {DType::kF64, Shape()}, "rate");
  }

  ValueId State(Role role, Shape shape, const std::string& name) {
    const ValueId id =
        g_.builder.AddSource(role, Zone::kForward, {DType::kF32, std::move(shape)}, name);
    g_.graph.parameters[id] = {};
    return id;
  }
  ValueId Product() {
    return g_.Node(OpId::matmul, {g_.Input("dy", {4, 2}), g_.Input("x", {4, 3})}, "dweight",
                   Attributes::Of(MatmulAttributes{true, false}));
  }
  void Update(ValueId gradient) {
    SgdAttributes attributes;
    attributes.momentum = 0.9;
    const std::vector<ValueId> next =
        g_.builder.AddNode(OpId::sgd, Attributes::Of(attributes),
                           {weight_, gradient, rate_, momentum_}, "weight.sgd", {});
    g_.graph.updates.push_back({weight_, next[0]});
    g_.graph.updates.push_back({momentum_, next[1]});
  }
  bool Run() { return g_.RunFor(target_, passes::FuseUpdates); }

  FusingTarget target_;
  PassGraph g_;
  ValueId weight_, momentum_, rate_;
};

TEST_F(FuseUpdates, JoinsAnOptimizerAndItsProduct) {
  Update(Product());
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(fused.op, OpId::fused);
  EXPECT_EQ(fused.name, "weight.sgd");
  EXPECT_EQ(fused.outputs.size(), 2u);
  ASSERT_EQ(fused.inputs.size(), 5u);
  EXPECT_EQ(fused.inputs[2], g_.graph.FindValue("weight"));
  ASSERT_EQ(fused.body.size(), 2u);
  EXPECT_EQ(fused.body[0].operands, (std::vector<int>{0, 1}));
  EXPECT_EQ(fused.body[1].op, OpId::sgd);
  EXPECT_EQ(fused.body[1].operands, (std::vector<int>{2, -1, 3, 4}));
  EXPECT_FALSE(g_.graph.FindValue("dweight").valid()) << "it is no value any more";
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesAGradientThatOthersRead) {
  const ValueId gradient = Product();
  Update(gradient);
  g_.Output(g_.Node(OpId::exp, {gradient}, "exp"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesAGradientThatIsKept) {
  const ValueId gradient = Product();
  Update(gradient);
  g_.Output(gradient);
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesWhatIsNoProduct) {
  Update(g_.Node(OpId::neg, {g_.Input("x", {2, 3})}, "gradient"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesWhatIsNoOptimizer) {
  g_.Output(g_.Node(OpId::relu, {Product()}, "relu"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesWhatIsSlowerTogether) {
  target_.fused_seconds = 3;
  Update(Product());
  EXPECT_FALSE(Run());
}

TEST_F(FuseUpdates, LeavesWhatTakesAsMuchMemoryTogether) {
  target_.fused_workspace = 4 * 2 * 3;  // as the gradient
  Update(Product());
  EXPECT_FALSE(Run());
  target_.fused_workspace -= 1;
  EXPECT_TRUE(Run());
}

// Its fused kernel runs them in turn, and needs memory for the gradient between them.
TEST_F(FuseUpdates, GivesTheReferenceDeviceNothing) {
  Update(Product());
  EXPECT_FALSE(g_.Run(passes::FuseUpdates));
}

}  // namespace
}  // namespace cgrun
