// Fusion of operators that go element by element, for a device that does not exist: it has a kernel
// for all of them together, at a price.
#include "src/ops/reduce.h"
#include "tests/passes/fusing_target.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

class FuseElementwise : public testing::Test {
 protected:
  bool Run() { return g_.RunFor(target_, passes::FuseElementwise); }
  ValueId Of(OpId op, std::vector<ValueId> inputs, const std::string& name) {
    return g_.Node(op, std::move(inputs), name);
  }
  ValueId Reduced(OpId op, ValueId x, const std::string& name) {  // over all axes
    return g_.Node(op, {x}, name, Attributes::Of(ReduceAttributes()));
  }
  const Node& Last() const {
    return g_.graph.nodes[NodeId(static_cast<int>(g_.graph.nodes.size()) - 1)];
  }
  std::vector<OpId> Body() const {
    std::vector<OpId> ops;
    for (const FusedOperator& op : Last().body) ops.push_back(op.op);
    return ops;
  }
  using Ops = std::vector<OpId>;

  FusingTarget target_;
  PassGraph g_;
  ValueId x_ = g_.Input("x");
};

TEST_F(FuseElementwise, JoinsAChain) {
  const ValueId a = Of(OpId::sigmoid, {x_}, "a");
  const ValueId b = Of(OpId::mul, {a, x_}, "b");
  g_.Output(Of(OpId::neg, {b}, "c"));
  const HostTensor x = HostTensor::Of<float>({3}, {-1, 0, 2});
  const HostTensor before = g_.Evaluate(x);
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  EXPECT_EQ(Last().name, "c");
  EXPECT_EQ(Body(), (Ops{OpId::sigmoid, OpId::mul, OpId::neg}));
  EXPECT_EQ(Last().inputs, (std::vector<ValueId>{x_}));
  EXPECT_EQ(Last().body[1].operands, (std::vector<int>{-1, 0}));
  EXPECT_EQ(Last().body[2].operands, (std::vector<int>{-2}));
  const HostTensor after = g_.Evaluate(x);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(after.At(i), before.At(i));
  EXPECT_FALSE(Run());
}

// It stays two operators, each of which rounds: what one of them gives alone is given here, too.
TEST_F(FuseElementwise, JoinsAMultiplyAdd) {
  const ValueId product = Of(OpId::mul, {x_, g_.Input("y")}, "product");
  g_.Output(Of(OpId::add, {g_.Input("z"), product}, "sum"));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  EXPECT_EQ(Body(), (Ops{OpId::mul, OpId::add}));
  EXPECT_EQ(Last().inputs.size(), 3u);
}

// Two branches from one value, which meet again.
TEST_F(FuseElementwise, TakesWhatItAloneReadsHoweverOften) {
  const ValueId a = Of(OpId::neg, {x_}, "a");
  const ValueId b = Of(OpId::relu, {a}, "b");
  const ValueId c = Of(OpId::exp, {a}, "c");
  g_.Output(Of(OpId::mul, {b, c}, "d"));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 1u);
  EXPECT_EQ(Last().body.size(), 4u);
  EXPECT_EQ(Last().body[0].op, OpId::neg);
  EXPECT_EQ(Last().body[3].op, OpId::mul);
}

TEST_F(FuseElementwise, LeavesWhatOthersReadAndOutputs) {
  const ValueId a = Of(OpId::neg, {x_}, "a");
  const ValueId b = Of(OpId::exp, {a}, "b");
  g_.Output(Of(OpId::relu, {b}, "c"));
  g_.Output(a, "kept");
  EXPECT_TRUE(Run());
  EXPECT_EQ(g_.Count(OpId::neg), 1);
  EXPECT_EQ(g_.Count(OpId::fused), 1);
}

// As one node, a·b + c·d needs four tensors at once. As two, the products can be made one after the
// other. A tensor that other nodes read exists anyway.
TEST_F(FuseElementwise, NeedsNoMoreTensorsAtATime) {
  ReduceAttributes over_first;
  over_first.axes = {0};
  std::vector<ValueId> made;
  for (const std::string name : {"a", "b", "c", "d"}) {
    made.push_back(g_.Node(OpId::reduce_max, {g_.Input("m_" + name, {2, 3})}, name,
                           Attributes::Of(over_first)));
  }
  const ValueId ab = Of(OpId::mul, {made[0], made[1]}, "ab");
  const ValueId cd = Of(OpId::mul, {made[2], made[3]}, "cd");
  g_.Output(Of(OpId::add, {ab, cd}, "sum"));
  EXPECT_FALSE(Run());
  for (const ValueId value : made) g_.Output(value, "kept");
  EXPECT_TRUE(Run());
  EXPECT_EQ(Body(), (Ops{OpId::mul, OpId::mul, OpId::add}));
}

// With what it reduces, of another shape than its result; not with what reads that.
TEST_F(FuseElementwise, EndsInAReduction) {
  const ValueId a = Of(OpId::mul, {x_, g_.Input("y")}, "a");
  const ValueId b = Of(OpId::abs, {a}, "b");
  const ValueId c = Reduced(OpId::reduce_sum, b, "c");
  g_.Output(Of(OpId::sqrt, {c}, "d"));
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 2u);
  EXPECT_EQ(Last().op, OpId::sqrt);
  const Node& sum = g_.graph.nodes[NodeId(0)];
  EXPECT_EQ(sum.name, "c");
  ASSERT_EQ(sum.body.size(), 3u);
  EXPECT_EQ(sum.body[2].op, OpId::reduce_sum);
  EXPECT_EQ(sum.body[2].operands, (std::vector<int>{-2}));
  EXPECT_FALSE(Run());
}

// A kernel with a workspace as large as what passes between them saves nothing.
TEST_F(FuseElementwise, LeavesReductionsWhoseTensorIsStillThere) {
  g_.Output(Reduced(OpId::reduce_max, Of(OpId::abs, {x_}, "a"), "b"));
  target_.fused_workspace = 3 * 4;
  EXPECT_FALSE(Run());
  target_.fused_workspace = 3 * 4 - 1;
  EXPECT_TRUE(Run());
}

TEST_F(FuseElementwise, LeavesReductionsOfWhatOthersRead) {
  const ValueId a = Of(OpId::abs, {x_}, "a");
  g_.Output(Reduced(OpId::reduce_sum, a, "b"));
  g_.Output(a, "kept");
  EXPECT_FALSE(Run());
}

TEST_F(FuseElementwise, LeavesOtherShapes) {
  const ValueId wide = g_.Input("wide", {2, 3});
  const ValueId a = Of(OpId::add, {wide, x_}, "a");  // x is broadcast
  g_.Output(Of(OpId::relu, {a}, "b"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseElementwise, TakesOperandsOfOneElement) {
  const ValueId a = Of(OpId::mul, {x_, g_.Input("scale", {1})}, "a");
  g_.Output(Of(OpId::relu, {a}, "b"));
  EXPECT_TRUE(Run());
}

TEST_F(FuseElementwise, LeavesWhatIsSlowerTogether) {
  target_.fused_seconds = 3;
  g_.Output(Of(OpId::relu, {Of(OpId::neg, {x_}, "a")}, "b"));
  EXPECT_FALSE(Run());
}

TEST_F(FuseElementwise, LeavesOtherPhases) {
  const ValueId a = Of(OpId::neg, {x_}, "a");
  g_.Output(Of(OpId::relu, {a}, "b"));
  g_.graph.nodes[NodeId(1)].phase = Phase::kBackward;
  EXPECT_FALSE(Run());
}

// A node that was fused before is taken with its operators.
TEST_F(FuseElementwise, FlattensChains) {
  const ValueId a = Of(OpId::neg, {x_}, "a");
  g_.Output(Of(OpId::relu, {a}, "b"));
  EXPECT_TRUE(Run());
  const ValueId joined = g_.graph.outputs[0].value;
  g_.graph.outputs.clear();
  g_.Output(Of(OpId::mul, {joined, x_}, "c"));
  EXPECT_TRUE(Run());
  EXPECT_EQ(Body(), (Ops{OpId::neg, OpId::relu, OpId::mul}));
  EXPECT_EQ(Last().body[2].operands, (std::vector<int>{-2, 0}));
}

}  // namespace
}  // namespace cgrun
