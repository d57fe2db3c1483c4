// Bits in the place of what relu made: for gradients that alone keep it, and with the same bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/ops/concat.h"
#include "src/ops/conv.h"
#include "src/ops/flatten.h"
#include "src/ops/pool.h"
#include "src/passes/pipeline.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

const Shape kImages = {2, 20, 32, 32};  // 160 KiB

// x → relu, and its gradient for any dy.
class ReluBits : public testing::Test {
 protected:
  void Build(const Shape& shape = kImages) {
    relu_ = g_.Node(OpId::relu, {g_.Input("x", shape)}, "relu");
    g_.Output(GradientFor(relu_));
  }
  ValueId GradientFor(ValueId y, const std::string& name = "relu.grad") {
    return Backward(OpId::relu_grad, {y, g_.Input("dy of " + name, ShapeOf(y))}, name);
  }
  ValueId Backward(OpId op, std::vector<ValueId> inputs, const std::string& name,
                   Attributes attributes = {}) {
    Builder::NodeOptions options;
    options.phase = Phase::kBackward;
    return g_.builder.AddNode(op, std::move(attributes), std::move(inputs), name, options)[0];
  }
  Shape ShapeOf(ValueId value) const { return g_.graph.values[value].type.shape; }
  // In rows, as a linear layer reads it.
  ValueId Flatten(ValueId value) {
    return g_.Node(OpId::flatten, {value}, "flatten", Attributes::Of(FlattenAttributes()));
  }
  bool Run() { return g_.Run(passes::ReluBits); }

  PassGraph g_;
  ValueId relu_;
};

// Returns whether a node behind the forward pass reads the value.
bool IsKept(const Graph& graph, ValueId value) {
  return std::ranges::any_of(Readers(graph)[value], [&](NodeId reader) {
    return graph.nodes[reader].phase != Phase::kForward;
  });
}

TEST_F(ReluBits, KeepsABitForEachElement) {
  Build();
  EXPECT_TRUE(IsKept(g_.graph, relu_));
  EXPECT_TRUE(Run());
  EXPECT_FALSE(IsKept(g_.graph, relu_));
  const ValueId bits = g_.graph.FindValue("relu.bits");
  ASSERT_TRUE(bits.valid());
  EXPECT_EQ(g_.graph.values[bits].type, (TensorType{DType::kU8, {2, 3, 32, 32}}));
  EXPECT_TRUE(IsKept(g_.graph, bits));
  EXPECT_EQ(g_.Count(OpId::relu_grad), 0);
  EXPECT_FALSE(Run());
}

// The bits stand right behind relu in the list of nodes, so that orders that follow the list run
// them there.
TEST_F(ReluBits, StandBehindWhatMakesTheTensor) {
  Build();
  g_.Output(g_.Node(OpId::exp, {relu_}, "exp"), "other");
  EXPECT_TRUE(Run());
  const NodeId relu = g_.graph.values[relu_].producer;
  const NodeId bits = g_.graph.values[g_.graph.FindValue("relu.bits")].producer;
  EXPECT_EQ(bits.index, relu.index + 1);
  EXPECT_EQ(g_.graph.nodes[bits].phase, Phase::kForward);
  EXPECT_EQ(g_.graph.nodes[relu].op, OpId::relu);
}

TEST_F(ReluBits, ChangesNoBit) {
  Build();
  HostTensor x(DType::kF32, kImages);
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::sin(static_cast<double>(37 * i)));
  x.Set(8, std::numeric_limits<double>::quiet_NaN());
  x.Set(20, 0.0);
  x.Set(30, -0.0);
  x.Set(50, std::numeric_limits<double>::infinity());
  const HostTensor before = g_.Evaluate(x);
  EXPECT_TRUE(Run());
  const HostTensor after = g_.Evaluate(x);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), after.bytes()));
  int64_t zeros = 0;
  for (int64_t i = 0; i < after.elements(); ++i) zeros += after.At(i) == 0;
  EXPECT_GT(zeros, after.elements() / 4);
  EXPECT_LT(zeros, after.elements() * 3 / 4);
}

TEST_F(ReluBits, AreSharedByAllGradientsOfATensor) {
  Build();
  g_.Output(GradientFor(relu_, "second"), "second");
  EXPECT_TRUE(Run());
  EXPECT_EQ(g_.Count(OpId::relu_bits), 1);
  EXPECT_EQ(g_.Count(OpId::relu_grad_by_bits), 2);
}

TEST_F(ReluBits, AreOfATensorThatIsViewedInTheForwardPass) {
  Build();
  g_.Output(g_.Node(OpId::exp, {Flatten(relu_)}, "exp"), "other");
  EXPECT_TRUE(Run());
}

TEST_F(ReluBits, LeaveWhatTheBackwardPassReads) {
  Build();
  g_.Output(Backward(OpId::neg, {relu_}, "neg"), "other");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveWhatTheBackwardPassReadsThroughAView) {
  Build();
  g_.Output(Backward(OpId::neg, {Flatten(relu_)}, "neg"), "other");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveAViewOfWhatTheBackwardPassReads) {
  const ValueId relu = g_.Node(OpId::relu, {g_.Input("x", kImages)}, "relu");
  g_.Output(GradientFor(Flatten(relu)));
  g_.Output(Backward(OpId::neg, {relu}, "neg"), "other");
  EXPECT_FALSE(Run());
}

// The joined tensor is kept for the backward pass, and holds all of relu's result. So bits would
// save nothing.
TEST_F(ReluBits, LeaveThatOfWhichAsMuchIsKept) {
  Build();
  const ValueId joined =
      g_.Node(OpId::concat, {relu_, relu_}, "joined", Attributes::Of(ConcatAttributes{1}));
  g_.Output(Backward(OpId::neg, {joined}, "neg"), "other");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, AreOfATensorOfWhichNothingElseIsKept) {
  Build();
  g_.Output(g_.Node(OpId::concat, {relu_, relu_}, "joined", Attributes::Of(ConcatAttributes{1})),
            "other");
  EXPECT_TRUE(Run());
}

TEST_F(ReluBits, LeaveWhatIsAGradientAsWell) {
  const ValueId relu = g_.Node(OpId::relu, {g_.Input("x", kImages)}, "relu");
  g_.Output(Backward(OpId::relu_grad, {relu, relu}, "grad"));
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveWhatIsKept) {
  Build();
  g_.Output(relu_, "kept");
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveInputs) {
  g_.Output(GradientFor(g_.Input("x", kImages)));
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveGradientsOfTheForwardPass) {
  const ValueId relu = g_.Node(OpId::relu, {g_.Input("x", kImages)}, "relu");
  g_.Output(g_.Node(OpId::relu_grad, {relu, g_.Input("dy", kImages)}, "grad"));
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveSmallTensors) {
  Build({1, 16, 31, 32});  // 62 KiB
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveWhatHasTooFewChannelsToPack) {
  Build({32, 1, 32, 32});
  EXPECT_FALSE(Run());
}

TEST_F(ReluBits, LeaveAVectorOfTheBatch) {
  Build({Dim(1 << 15, true)});
  EXPECT_FALSE(Run());
}

// This device has no kernels for the bits.
class BitlessTarget : public FusingTarget {
 public:
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    if (node.op == OpId::relu_grad_by_bits) return {};
    return FusingTarget::Options(node, setting);
  }
};

TEST_F(ReluBits, LeaveWhatTheDeviceHasNoKernelFor) {
  Build();
  EXPECT_FALSE(g_.RunFor(BitlessTarget(), passes::ReluBits));
  EXPECT_TRUE(g_.RunFor(FusingTarget(), passes::ReluBits));
}

// conv → relu → max_pool → relu → avg_pool: the first gradient comes to stand before the pool's,
// and the convolution becomes one node with what is behind it, as without bits.
TEST_F(ReluBits, ComeBehindThePassesThatHaveABetterUse) {
  ConvAttributes conv;
  conv.filters = 16;
  conv.kernel = {3, 3};
  conv.bias = false;
  const ValueId y =
      g_.Node(OpId::relu,
              {g_.Node(OpId::conv, {g_.Input("x", {2, 3, 66, 66}), g_.Input("w", {16, 3, 3, 3})},
                       "conv", Attributes::Of(conv))},
              "relu");
  MaxPoolAttributes pool;
  pool.kernel = {2, 2};
  const std::vector<ValueId> pooled =
      g_.builder.AddNode(OpId::max_pool, Attributes::Of(pool), {y}, "pool", {});
  const ValueId dpool =
      Backward(OpId::max_pool_grad, {pooled[1], g_.Input("dpooled", {2, 16, 32, 32})}, "pool.dx",
               Attributes::Of(PoolGradAttributes{{2, 16, 64, 64}, {2, 2}, {}}));
  g_.Output(Backward(OpId::relu_grad, {y, dpool}, "relu.grad"));
  g_.Output(g_.Node(OpId::exp, {pooled[0]}, "exp"), "other");
  RunPasses(g_.graph, {FusingTarget()}, {}, PassStage::kGraph);
  EXPECT_EQ(VerifyGraph(g_.graph), std::vector<std::string>());
  EXPECT_EQ(g_.Count(OpId::conv) + g_.Count(OpId::max_pool), 0);
  const ValueId bits = g_.graph.FindValue("pool.bits");
  ASSERT_TRUE(bits.valid());
  EXPECT_EQ(ShapeOf(bits), (Shape{2, 2, 32, 32}));
}

}  // namespace
}  // namespace cgrun
