// Tests where values go that passes fuse away.
#include "src/compile/fused_value.h"

#include <gtest/gtest.h>

#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

FusedOperator Inner(OpId op, std::vector<int> operands) {
  return {op, Attributes::Defaults(*GetOpDef(op).schema), std::move(operands)};
}

// x → a (exp) → b (relu) → c (neg) → d (tanh), of which b and c are fused.
class FusedValueTest : public testing::Test {
 protected:
  FusedValueTest() {
    const ValueId x = before_.Feed("x", {4});
    const ValueId b = before_.Op(OpId::relu, "b", {before_.Op(OpId::exp, "a", {x})});
    before_.Op(OpId::tanh, "d", {before_.Op(OpId::neg, "c", {b})});
    const ValueId y = after_.Feed("x", {4}), a = after_.Op(OpId::exp, "a", {y});
    const ValueId c = after_.Fused("c", {a}, {Inner(OpId::relu, {0}), Inner(OpId::neg, {-1})});
    after_.Op(OpId::tanh, "d", {c});
  }

  // "" where there is none.
  std::string Into(const std::string& name) {
    const Graph &before = before_.graph(), &after = after_.graph();
    const ValueId value = FindFusedInto(before, before.FindValue(name), after);
    return value.valid() ? after.values[value].name : "";
  }

  GraphMaker before_, after_;
};

TEST_F(FusedValueTest, IsTheNodeThatComputesItBesides) { EXPECT_EQ(Into("b"), "c"); }

// Two equal ones became one; what is fused behind them has a relu of its own.
TEST(FusedValue, IsNoneOfWhatBecameAnother) {
  GraphMaker before, after;
  const ValueId x = before.Feed("x", {4}), y = after.Feed("x", {4});
  const ValueId same = before.Op(OpId::relu, "same", {x});
  before.Op(OpId::relu, "first", {x});
  before.Op(OpId::relu, "c", {before.Op(OpId::neg, "b", {same})});
  after.Fused("c", {after.Op(OpId::relu, "first", {y})},
              {Inner(OpId::neg, {0}), Inner(OpId::relu, {-1})});
  EXPECT_FALSE(FindFusedInto(before.graph(), same, after.graph()).valid());
  EXPECT_EQ(FindFusedInto(before.graph(), before.graph().FindValue("b"), after.graph()),
            after.graph().FindValue("c"));
}

TEST_F(FusedValueTest, IsNoneOfWhatNoFusedReaderComputes) {
  EXPECT_EQ(Into("a"), "") << "the fused node reads it, and has no exp";
  EXPECT_EQ(Into("d"), "") << "nothing reads it";
  EXPECT_EQ(Into("x"), "") << "it is fed";
}

}  // namespace
}  // namespace cgrun
