// Fusion of activations, for a device that does not exist: it has a kernel for neg with an
// activation behind it, at a price.
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

// The reference device with one kernel more.
class FusingTarget : public Target {
 public:
  double fused_seconds = 1;
  bool hides_nan = false;

  std::string_view name() const override { return "fusing"; }
  std::string fingerprint() const override { return "fusing 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    KernelOption option;
    option.input_layouts.resize(node.inputs.size());
    option.output_layouts.resize(node.outputs.size());
    option.kernel = "fusing." + std::string(NameOf(node.op));
    option.seconds = 1;
    if (node.op != OpId::fused) return {option};
    option.seconds = fused_seconds;
    if (node.body[0].op != OpId::neg || (hides_nan && setting.learns)) return {};
    return {option};
  }
};

class FuseActivations : public testing::Test {
 protected:
  bool Run() { return g_.RunFor(target_, passes::FuseActivations); }
  ValueId Neg(ValueId x, const std::string& name) { return g_.Node(OpId::neg, {x}, name); }
  ValueId Relu(ValueId x, const std::string& name) { return g_.Node(OpId::relu, {x}, name); }

  FusingTarget target_;
  PassGraph g_;
};

TEST_F(FuseActivations, JoinsAnOperatorAndItsActivation) {
  g_.Output(Relu(Neg(g_.Input("x"), "neg"), "relu"));
  const HostTensor x = HostTensor::Of<float>({3}, {-1, 0, 2});
  const HostTensor before = g_.Evaluate(x);
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  const Node& fused = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(fused.op, OpId::fused);
  EXPECT_EQ(fused.name, "relu");
  ASSERT_EQ(fused.body.size(), 2u);
  EXPECT_EQ(fused.body[0].op, OpId::neg);
  EXPECT_EQ(fused.body[1].op, OpId::relu);
  const HostTensor after = g_.Evaluate(x);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(after.At(i), before.At(i));
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, LeavesWhatOthersRead) {
  const ValueId neg = Neg(g_.Input("x"), "neg");
  g_.Output(Relu(neg, "relu"));
  g_.Output(g_.Node(OpId::exp, {neg}, "exp"), "exp");
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, LeavesOutputs) {
  const ValueId neg = Neg(g_.Input("x"), "neg");
  g_.Output(Relu(neg, "relu"));
  g_.Output(neg, "neg");
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, LeavesWhatHasNoKernelTogether) {
  const ValueId exp = g_.Node(OpId::exp, {g_.Input("x")}, "exp");
  g_.Output(Relu(exp, "relu"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, LeavesWhatIsSlowerTogether) {
  target_.fused_seconds = 2;
  g_.Output(Relu(Neg(g_.Input("x"), "neg"), "relu"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, LeavesWhatIsNoActivation) {
  g_.Output(g_.Node(OpId::exp, {Neg(g_.Input("x"), "neg")}, "exp"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseActivations, HidesNoNanWhereAStepLearns) {
  target_.hides_nan = true;
  const ValueId state = g_.builder.AddSource(Role::kRunningStatistic, Zone::kForward,
                                             {DType::kF32, Shape{3}}, "state");
  g_.graph.parameters[state] = {};
  const ValueId next = Relu(Neg(state, "neg"), "relu");
  g_.graph.updates.push_back({state, next});
  EXPECT_FALSE(Run());
  g_.graph.updates.clear();
  g_.Output(next);
  EXPECT_TRUE(Run());
}

// The reference device has no kernel of its own for two: its fused kernel runs them in turn, and
// needs memory between them.
TEST_F(FuseActivations, GivesTheReferenceDeviceNothing) {
  g_.Output(Relu(Neg(g_.Input("x"), "neg"), "relu"));
  EXPECT_FALSE(g_.Run(passes::FuseActivations));
}

}  // namespace
}  // namespace cgrun
