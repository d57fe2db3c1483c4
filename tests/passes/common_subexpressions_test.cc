// Common sub-expressions.
#include "src/ops/dropout.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

TEST(CommonSubexpressions, MergesEqualNodesAndCommutedOnes) {
  PassGraph g;
  const ValueId a = g.Input("a"), b = g.Input("b");
  const ValueId first = g.Node(OpId::add, {a, b}, "first");
  const ValueId second = g.Node(OpId::add, {b, a}, "second");
  g.Output(g.Node(OpId::mul, {first, second}, "square"));
  EXPECT_TRUE(g.Run(passes::MergeCommonSubexpressions));
  EXPECT_TRUE(g.Run(passes::EliminateDeadCode));
  EXPECT_EQ(g.Count(OpId::add), 1);
  EXPECT_FALSE(g.Run(passes::MergeCommonSubexpressions));
}

TEST(CommonSubexpressions, KeepsDifferencesApart) {
  PassGraph g;
  const ValueId a = g.Input("a"), b = g.Input("b");
  const ValueId first = g.Node(OpId::sub, {a, b}, "first");
  const ValueId second = g.Node(OpId::sub, {b, a}, "second");
  g.Output(g.Node(OpId::mul, {first, second}, "product"));
  EXPECT_FALSE(g.Run(passes::MergeCommonSubexpressions));
}

TEST(CommonSubexpressions, MergesConstantsOfEqualBytes) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId one = g.Constant({1, 1, 1}, "one"), uno = g.Constant({1, 1, 1}, "uno");
  const ValueId zero = g.Constant({0, 0, 0}, "zero"), minus = g.Constant({-0.0f, 0, 0}, "minus");
  ValueId y = x;
  for (ValueId constant : {one, uno, zero, minus}) y = g.Node(OpId::add, {y, constant}, "y");
  g.Output(y);
  EXPECT_TRUE(g.Run(passes::MergeCommonSubexpressions));
  EXPECT_TRUE(g.Run(passes::EliminateDeadCode));
  EXPECT_EQ(g.graph.constants.size(), 3u) << "-0 is not 0";
}

TEST(CommonSubexpressions, KeepsRandomOperatorsOfDifferentKeysApart) {
  PassGraph g;
  const ValueId x = g.Input("x");
  const ValueId step =
      g.builder.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, Shape()}, kStepCounter);
  const auto dropout = [&](int64_t key, const std::string& name) {
    DropoutAttributes attributes;
    attributes.rate = 0.5;
    attributes.key = key;
    return g.Node(OpId::dropout, {x, step}, name, Attributes::Of(attributes));
  };
  g.Output(g.Node(OpId::add, {dropout(1, "first"), dropout(2, "second")}, "sum"));
  EXPECT_FALSE(g.Run(passes::MergeCommonSubexpressions));
}

}  // namespace
}  // namespace cgrun
