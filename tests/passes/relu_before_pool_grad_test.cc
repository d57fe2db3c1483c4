// The gradient of relu goes before that of the pool behind it. It gives the same bits from smaller
// operands.
#include <cmath>
#include <limits>

#include "src/ops/pool.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

// x → relu → max_pool (windows of 3, which overlap), and the gradient of it all for dy = pooled.
class ReluBeforePoolGrad : public testing::Test {
 protected:
  ReluBeforePoolGrad() {
    x_ = g_.Input("x", {1, 2, 6, 6});
    relu_ = g_.Node(OpId::relu, {x_}, "relu");
    MaxPoolAttributes pool;
    pool.kernel = {3, 3};
    pool.stride = {2, 2};
    pool.padding = {1, 1, 1, 1};
    const std::vector<ValueId> pooled =
        g_.builder.AddNode(OpId::max_pool, Attributes::Of(pool), {relu_}, "pool", {});
    PoolGradAttributes grad{g_.graph.values[x_].type.shape,
                            pool.kernel,
                            pool.stride,
                            pool.padding,
                            pool.dilation,
                            pool.ceil_mode};
    pool_grad_ = Backward(OpId::max_pool_grad, Attributes::Of(std::move(grad)),
                          {pooled[1], pooled[0]}, "pool.dx");
    relu_grad_ = Backward(OpId::relu_grad, {}, {relu_, pool_grad_}, "relu.grad");
  }

  ValueId Backward(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                   const std::string& name) {
    Builder::NodeOptions options;
    options.phase = Phase::kBackward;
    return g_.builder.AddNode(op, std::move(attributes), std::move(inputs), name, options)[0];
  }
  bool Run() { return g_.Run(passes::ReluBeforePoolGrad); }

  PassGraph g_;
  ValueId x_, relu_, pool_grad_, relu_grad_;
};

TEST_F(ReluBeforePoolGrad, WorksOnPooledElements) {
  g_.Output(relu_grad_);
  EXPECT_TRUE(Run());
  const Node& last = g_.graph.nodes[g_.graph.values[relu_grad_].producer];
  EXPECT_EQ(last.op, OpId::max_pool_grad);
  const Node& first = g_.graph.nodes[g_.graph.values[last.inputs[1]].producer];
  EXPECT_EQ(first.op, OpId::relu_grad);
  EXPECT_EQ(g_.graph.values[first.inputs[0]].name, "pool");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBeforePoolGrad, ChangesNoBit) {
  g_.Output(relu_grad_);
  HostTensor x(DType::kF32, {1, 2, 6, 6});
  for (int64_t i = 0; i < x.shape().Elements(); ++i) {
    x.Set(i, std::sin(static_cast<double>(37 * i)));  // of both signs
  }
  x.Set(8, std::numeric_limits<double>::quiet_NaN());
  x.Set(20, 0.0);
  x.Set(50, std::numeric_limits<double>::infinity());
  const HostTensor before = g_.Evaluate(x);
  EXPECT_TRUE(Run());
  const HostTensor after = g_.Evaluate(x);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  int64_t zeros = 0;
  for (int64_t i = 0; i < after.shape().Elements(); ++i) zeros += after.At(i) == 0;
  EXPECT_GT(zeros, 0);
  EXPECT_LT(zeros, after.shape().Elements());
}

TEST_F(ReluBeforePoolGrad, LeavesGradientsThatOthersRead) {
  g_.Output(relu_grad_);
  g_.Output(Backward(OpId::neg, {}, {pool_grad_}, "neg"), "neg");
  EXPECT_FALSE(Run());
}

// Else the pooled elements would be kept besides.
TEST_F(ReluBeforePoolGrad, LeavesResultsThatTheBackwardPassKeepsAnyway) {
  g_.Output(relu_grad_);
  g_.Output(Backward(OpId::neg, {}, {relu_}, "neg"), "neg");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBeforePoolGrad, LeavesThePoolOfAnotherValue) {
  const ValueId other = g_.Node(OpId::relu, {g_.Input("z", {1, 2, 6, 6})}, "other");
  g_.Output(Backward(OpId::relu_grad, {}, {other, pool_grad_}, "other.grad"));
  EXPECT_FALSE(Run());
}

}  // namespace
}  // namespace cgrun
