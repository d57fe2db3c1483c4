// A clip becomes a part of batch_norm: there is one node in each direction, and the bits are the
// same.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/autodiff/autodiff.h"
#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const Shape kImages = {2, 2, 2, 3};

// Makes x → batch_norm → relu or clip, and the gradient of x for dy = y.
class ClipInBatchNorm : public testing::Test {
 protected:
  ValueId Norm(bool training) {
    return g_.builder.AddNode(OpId::batch_norm,
                              Attributes::Of(BatchNormAttributes{.training = training}),
                              {x_, Constants({0.5F, -2}, "scale"), Constants({0.25F, 0}, "shift"),
                               Constants({0, 0.5F}, "mean"), Constants({1, 2}, "var")},
                              "norm", {})[0];
  }
  ValueId Constants(const std::vector<float>& values, const std::string& name) {
    return g_.Constant(values, name);
  }
  void GradientOf(ValueId y) {
    g_.Output(AddGradients(g_.builder, {{y, y}}, {x_}, PathId()).at(x_), "dx");
  }
  bool Run() { return g_.Run(passes::ClipInBatchNorm); }

  static HostTensor Numbers() {
    HostTensor x(DType::kF32, kImages);
    for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::sin(static_cast<double>(37 * i)));
    return x;
  }
  void ExpectSameBits(const HostTensor& x) {
    const HostTensor before = g_.Evaluate(x);
    EXPECT_TRUE(Run());
    const HostTensor after = g_.Evaluate(x);
    EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  }

  PassGraph g_;
  ValueId x_ = g_.Input("x", kImages);
};

TEST_F(ClipInBatchNorm, MakesOneNodeOfTwoInEachDirection) {
  GradientOf(g_.Node(OpId::relu, {Norm(true)}, "relu"));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 2u);
  const Node& norm = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(norm.op, OpId::batch_norm);
  EXPECT_EQ(norm.name, "relu");
  EXPECT_EQ(norm.attributes.As<BatchNormAttributes>().min, 0);
  EXPECT_EQ(norm.attributes.As<BatchNormAttributes>().max, kInfinity);
  const Node& gradient = g_.graph.nodes[NodeId(1)];
  EXPECT_EQ(gradient.op, OpId::batch_norm_grad);
  EXPECT_EQ(gradient.attributes, norm.attributes);
  EXPECT_EQ(gradient.inputs[1], norm.outputs[0]);  // dy, which is y here
  EXPECT_FALSE(Run());
}

TEST_F(ClipInBatchNorm, ChangesNoBitOfRelu) {
  GradientOf(g_.Node(OpId::relu, {Norm(true)}, "relu"));
  ExpectSameBits(Numbers());
}

TEST_F(ClipInBatchNorm, ChangesNoBitOfClip) {
  const Attributes bounds = Attributes::Of(ClipAttributes{.min = -0.25, .max = 0.5});
  GradientOf(g_.Node(OpId::clip, {Norm(true)}, "clip", bounds));
  ExpectSameBits(Numbers());
}

TEST_F(ClipInBatchNorm, ChangesNoBitOfWhatIsNoNumberWithFrozenStatistics) {
  GradientOf(g_.Node(OpId::relu, {Norm(false)}, "relu"));
  HostTensor x = Numbers();
  x.Set(1, kNaN);
  x.Set(3, kInfinity);
  x.Set(5, -kInfinity);
  x.Set(7, -0.5);  // becomes −0.25 + 0.25
  x.Set(9, 0.5);   // becomes −0
  ExpectSameBits(x);
}

TEST_F(ClipInBatchNorm, LeavesResultsThatOthersRead) {
  const ValueId norm = Norm(true);
  GradientOf(g_.Node(OpId::relu, {norm}, "relu"));
  g_.Output(norm, "norm");
  EXPECT_FALSE(Run());
}

// The gradient of relu stays where another node reads its result, too.
TEST_F(ClipInBatchNorm, LeavesGradientsThatOthersRead) {
  GradientOf(g_.Node(OpId::relu, {Norm(true)}, "relu"));
  const auto is_grad = [](const Node& node) { return node.op == OpId::relu_grad; };
  g_.Output(std::ranges::find_if(g_.graph.nodes, is_grad)->outputs[0], "grad");
  EXPECT_TRUE(Run());
  EXPECT_EQ(g_.Count(OpId::relu), 0);
  EXPECT_EQ(g_.Count(OpId::relu_grad), 1);
}

TEST_F(ClipInBatchNorm, TakesOneClipAlone) {
  const Attributes bounds = Attributes::Of(ClipAttributes{.min = -1, .max = 0.5});
  GradientOf(g_.Node(OpId::relu, {g_.Node(OpId::clip, {Norm(true)}, "clip", bounds)}, "relu"));
  ExpectSameBits(Numbers());
  EXPECT_EQ(g_.Count(OpId::clip) + g_.Count(OpId::clip_grad), 0);
  EXPECT_EQ(g_.Count(OpId::relu), 1);
}

// In blocked layouts zeros pad the channels, and must stay zeros.
TEST_F(ClipInBatchNorm, LeavesBoundsThatMoveZero) {
  const Attributes bounds = Attributes::Of(ClipAttributes{.min = 0.125, .max = 1});
  GradientOf(g_.Node(OpId::clip, {Norm(true)}, "clip", bounds));
  EXPECT_FALSE(Run());
}

}  // namespace
}  // namespace cgrun
