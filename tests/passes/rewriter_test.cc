// Rewriter: who reads what, after each kind of edit.
#include "src/passes/rewriter.h"

#include <gtest/gtest.h>

#include <utility>

#include "src/ir/builder.h"

namespace cgrun {
namespace {

class RewriterTest : public testing::Test {
 protected:
  RewriterTest() {
    Builder builder(graph_);
    const TensorType type{DType::kF32, Shape{2}};
    a_ = builder.AddSource(Role::kPlaceholder, Zone::kForward, type, "a");
    b_ = builder.AddSource(Role::kPlaceholder, Zone::kForward, type, "b");
    state_ = builder.AddSource(Role::kRunningStatistic, Zone::kForward, type, "state");
    sum_ = builder.AddNode(OpId::add, Attributes(), {a_, a_}, "sum", {})[0];
    relu_ = builder.AddNode(OpId::relu, Attributes(), {a_}, "relu", {})[0];
    graph_.outputs.push_back({relu_, OutputKind::kPrediction, "out", PathId()});
    graph_.updates.push_back({state_, relu_});
    Path path;
    path.name = "path";
    path.loss = relu_;
    graph_.paths.push_back(std::move(path));
  }

  std::vector<ValueId> InputsOf(ValueId value) const {
    return graph_.nodes[graph_.values[value].producer].inputs;
  }

  Graph graph_;
  ValueId a_, b_, state_, sum_, relu_;
};

TEST_F(RewriterTest, CountsOperandsAndReadersOutside) {
  const Rewriter rewriter(graph_);
  EXPECT_EQ(rewriter.Operands(a_), 3);
  EXPECT_EQ(rewriter.Operands(sum_), 0);
  EXPECT_TRUE(rewriter.IsInternal(sum_));
  EXPECT_FALSE(rewriter.IsRead(sum_));
  EXPECT_FALSE(rewriter.IsInternal(relu_));
  EXPECT_TRUE(rewriter.IsRead(relu_));
}

TEST_F(RewriterTest, ReplacesUsesEverywhere) {
  Rewriter rewriter(graph_);
  rewriter.ReplaceUses(a_, b_);
  EXPECT_EQ(InputsOf(sum_), (std::vector<ValueId>{b_, b_}));
  EXPECT_EQ(rewriter.Operands(a_), 0);
  EXPECT_EQ(rewriter.Operands(b_), 3);
  rewriter.ReplaceUses(relu_, sum_);
  EXPECT_EQ(graph_.outputs[0].value, sum_);
  EXPECT_EQ(graph_.updates[0].next, sum_);
  EXPECT_EQ(graph_.paths[PathId(0)].loss, sum_);
  EXPECT_TRUE(rewriter.IsInternal(relu_));
  rewriter.ReplaceUses(sum_, a_);  // a use that came from elsewhere moves on
  EXPECT_EQ(graph_.outputs[0].value, a_);
  EXPECT_EQ(graph_.paths[PathId(0)].loss, a_);
}

TEST_F(RewriterTest, ForgetsOperandsThatAreNoneAnyMore) {
  Rewriter rewriter(graph_);
  const NodeId sum = graph_.values[sum_].producer;
  rewriter.SetInput(sum, 0, b_);
  EXPECT_EQ(rewriter.Operands(a_), 2);
  rewriter.SetInputs(sum, {b_, b_});
  EXPECT_EQ(rewriter.Operands(a_), 1);
  EXPECT_EQ(rewriter.Operands(b_), 2);
  rewriter.ReplaceUses(a_, state_);
  EXPECT_EQ(InputsOf(sum_), (std::vector<ValueId>{b_, b_}));
  EXPECT_EQ(InputsOf(relu_), std::vector<ValueId>{state_});
  rewriter.SetInput(sum, 1, a_);  // an operand again
  rewriter.ReplaceUses(a_, state_);
  EXPECT_EQ(InputsOf(sum_), (std::vector<ValueId>{b_, state_}));
  EXPECT_EQ(rewriter.Operands(state_), 2);
}

TEST_F(RewriterTest, KnowsWhatItAdds) {
  Rewriter rewriter(graph_);
  const ValueId zero = rewriter.AddConstant(HostTensor(DType::kF32, Shape{2}), "a", {});
  EXPECT_EQ(graph_.values[zero].name, "a.2");
  const ValueId sum = rewriter.AddNode(OpId::add, Attributes(), {zero, b_}, "more", {})[0];
  EXPECT_EQ(rewriter.Operands(zero), 1);
  EXPECT_EQ(rewriter.Operands(sum), 0);
  rewriter.ReplaceUses(zero, a_);
  EXPECT_EQ(InputsOf(sum), (std::vector<ValueId>{a_, b_}));
}

}  // namespace
}  // namespace cgrun
