// Algebraic identities: which hold bit for bit, and which only where the file allows inexact
// rewrites.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/autodiff/autodiff.h"
#include "src/ops/batch_norm.h"
#include "src/ops/cast.h"
#include "src/ops/dropout.h"
#include "src/ops/matmul.h"
#include "src/ops/reduce.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const HostTensor& Inputs() {
  static const HostTensor tensor = HostTensor::Of<float>({5}, {0.0f, -0.0f, kInf, -kInf, 1.5f});
  return tensor;
}

// Makes op(x, number), or op(number, x) with `first`.
PassGraph Beside(OpId op, float number, bool first = false) {
  PassGraph g;
  const ValueId x = g.Input("x", {5});
  const ValueId constant = g.Constant(std::vector<float>(5, number), "constant");
  g.Output(first ? g.Node(op, {constant, x}, "y") : g.Node(op, {x, constant}, "y"));
  return g;
}

void ExpectExact(OpId op, float number, bool first = false) {
  PassGraph g = Beside(op, number, first);
  const HostTensor before = g.Evaluate(Inputs());
  EXPECT_TRUE(g.Run(passes::SimplifyAlgebra)) << NameOf(op) << " " << number;
  g.Run(passes::EliminateDeadCode);
  EXPECT_EQ(g.Count(op), 0);
  EXPECT_EQ(g.Evaluate(Inputs()), before) << NameOf(op) << " " << number;
}

void ExpectInexact(OpId op, float number, bool first = false) {
  PassGraph g = Beside(op, number, first);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra)) << NameOf(op) << " " << number;
  EXPECT_TRUE(g.Run(passes::SimplifyAlgebra, /*inexact=*/true)) << NameOf(op) << " " << number;
}

TEST(Algebra, ExactIdentitiesKeepEveryBit) {
  ExpectExact(OpId::add, -0.0f);
  ExpectExact(OpId::sub, 0.0f);
  ExpectExact(OpId::mul, 1.0f);
  ExpectExact(OpId::mul, 1.0f, true);
  ExpectExact(OpId::div, 1.0f);
}

TEST(Algebra, IdentitiesThatLoseASignOrANanWaitForLeave) {
  ExpectInexact(OpId::add, 0.0f);  // -0 + 0 is 0
  ExpectInexact(OpId::mul, 0.0f);  // inf * 0 is NaN
  ExpectInexact(OpId::div, 0.0f, true);
}

TEST(Algebra, LeavesOtherConstantsAlone) {
  PassGraph g = Beside(OpId::mul, 2.0f);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, true));
}

TEST(Algebra, TwoNegationsAreNone) {
  PassGraph g;
  const ValueId x = g.Input("x", {5});
  g.Output(g.Node(OpId::neg, {g.Node(OpId::neg, {x}, "once")}, "twice"));
  const HostTensor before = g.Evaluate(Inputs());
  EXPECT_TRUE(g.Run(passes::SimplifyAlgebra));
  EXPECT_EQ(g.Evaluate(Inputs()), before);
  EXPECT_EQ(g.graph.outputs[0].value, x);
}

// Makes a product of x, its last two axes exchanged, with one matrix.
PassGraph ProductOfTransposed(Shape x, std::vector<int64_t> perm, int64_t columns) {
  PassGraph g;
  const ValueId turned = g.Node(OpId::transpose, {g.Input("x", std::move(x))}, "turned",
                                Attributes::Of(TransposeAttributes{std::move(perm)}));
  g.Output(g.Node(OpId::matmul, {turned, g.Input("b", {columns, 4})}, "product",
                  Attributes::Of(MatmulAttributes())));
  return g;
}

TEST(Algebra, AMatrixIsReadTransposed) {
  EXPECT_TRUE(ProductOfTransposed({3, 5}, {1, 0}, 3).Run(passes::SimplifyAlgebra));
}

// Its rows are those of one large product, which would become many small ones.
TEST(Algebra, BatchesThatShareAMatrixStayTransposed) {
  EXPECT_FALSE(ProductOfTransposed({2, 3, 5}, {0, 2, 1}, 3).Run(passes::SimplifyAlgebra));
}

TEST(Algebra, OtherOrdersOfAxesAreNoTransposedMatrix) {
  EXPECT_FALSE(ProductOfTransposed({2, 3, 5}, {1, 0, 2}, 5).Run(passes::SimplifyAlgebra));
  EXPECT_FALSE(ProductOfTransposed({2, 3, 5}, {1, 2, 0}, 2).Run(passes::SimplifyAlgebra));
}

// x, repeated to two rows, plus y.
PassGraph RepeatedPlus(Shape y, bool average) {
  PassGraph g;
  const ValueId rows = g.Node(OpId::broadcast, {g.Input("x", {1, 5})}, "rows",
                              Attributes::Of(BroadcastAttributes{{2, 5}, average}));
  g.Output(g.Node(OpId::add, {rows, g.Input("y", std::move(y))}, "sum"));
  return g;
}

TEST(Algebra, WhatAloneRepeatsStays) {
  EXPECT_TRUE(RepeatedPlus({2, 5}, /*average=*/false).Run(passes::SimplifyAlgebra));
  EXPECT_TRUE(RepeatedPlus({2, 1}, /*average=*/false).Run(passes::SimplifyAlgebra));
  EXPECT_FALSE(RepeatedPlus({1, 5}, /*average=*/false).Run(passes::SimplifyAlgebra, true));
  EXPECT_FALSE(RepeatedPlus({5}, /*average=*/false).Run(passes::SimplifyAlgebra, true));
  EXPECT_FALSE(RepeatedPlus({2, 5}, /*average=*/true).Run(passes::SimplifyAlgebra, true));
}

TEST(Algebra, ANeutralConstantThatRepeatsXStays) {
  PassGraph g;
  const ValueId x = g.Input("x", {1}), zeros = g.Constant({-0.0F, -0.0F}, "zeros");
  g.Output(g.Node(OpId::add, {x, zeros}, "y"));
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, true));
}

TEST(Algebra, ZerosOfBothSignsAreNoNeutralConstant) {
  PassGraph g;
  const ValueId x = g.Input("x", {2}), zeros = g.Constant({0.0F, -0.0F}, "zeros");
  g.Output(g.Node(OpId::add, {x, zeros}, "y"));
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, true));
}

TEST(Algebra, DropoutInTrainingStays) {
  PassGraph g;
  const ValueId step =
      g.builder.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, Shape()}, "step");
  g.Output(g.Node(OpId::dropout, {g.Input("x"), step}, "y", Attributes::Of(DropoutAttributes())));
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, true));
}

TEST(Algebra, WhatNothingReadsIsLeftToDeadCode) {
  PassGraph g;
  const ValueId x = g.Input("x");
  g.Node(OpId::identity, {x}, "y");
  g.Output(x);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, true));
}

// Makes x → bias → batch_norm, and the gradient of the bias, or of x, for dy = y².
PassGraph GradientUnderNorm(bool training, bool of_bias) {
  PassGraph g;
  const ValueId x = g.Input("x", {4, 2, 3, 3}), bias = g.Constant({0.5F, -1}, "bias");
  const ValueId shifted = g.Node(OpId::bias, {x, bias}, "shifted");
  const ValueId y =
      g.Node(OpId::batch_norm,
             {shifted, g.Constant({0.5F, -2}, "scale"), g.Constant({0.25F, 0}, "shift"),
              g.Constant({0, 0.5F}, "mean"), g.Constant({1, 2}, "var")},
             "norm", Attributes::Of(BatchNormAttributes{.training = training}));
  const ValueId of = of_bias ? bias : x;
  const ValueId dy = g.Node(OpId::mul, {y, y}, "dy");
  g.Output(AddGradients(g.builder, {{y, dy}}, {of}, PathId()).at(of), "gradient");
  return g;
}

HostTensor Images() {
  HostTensor x(DType::kF32, {4, 2, 3, 3});
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::sin(static_cast<double>(37 * i)));
  return x;
}

double LargestOf(const HostTensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    largest = std::max(largest, std::abs(tensor.At(i)));
  }
  return largest;
}

TEST(Algebra, TheGradientOfABiasUnderBatchNormIsNothingWhereLeaveIsGiven) {
  PassGraph g = GradientUnderNorm(true, /*of_bias=*/true);
  EXPECT_LT(LargestOf(g.Evaluate(Images())), 1e-5);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra));
  EXPECT_TRUE(g.Run(passes::SimplifyAlgebra, /*inexact=*/true));
  g.Run(passes::EliminateDeadCode);
  EXPECT_EQ(g.Count(OpId::reduce_sum), 0);
  EXPECT_EQ(LargestOf(g.Evaluate(Images())), 0);
}

TEST(Algebra, TheGradientOfABiasUnderFrozenStatisticsStays) {
  PassGraph g = GradientUnderNorm(false, /*of_bias=*/true);
  EXPECT_GT(LargestOf(g.Evaluate(Images())), 0.1);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, /*inexact=*/true));
}

TEST(Algebra, WhatFlowsOnThroughABiasUnderBatchNormStays) {
  PassGraph g = GradientUnderNorm(true, /*of_bias=*/false);
  EXPECT_GT(LargestOf(g.Evaluate(Images())), 0.01);
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra, /*inexact=*/true));
}

// The sum over these axes of what batch_norm_grad gives, with a cast between, as mixed precision
// has them, or without.
PassGraph SumBehindNorm(Shape shape, IntList axes, bool cast = false) {
  PassGraph g;
  const Shape channels = {shape[1]};
  const ValueId x = g.Input("x", shape), of_channel = g.Input("s", channels);
  ValueId dx = g.Node(OpId::batch_norm_grad, {x, x, of_channel, of_channel, of_channel}, "dx",
                      Attributes::Of(BatchNormAttributes()));
  if (cast) dx = g.Node(OpId::cast, {dx}, "wide", Attributes::Of(CastAttributes{DType::kF64}));
  g.Output(g.Node(OpId::reduce_sum, {dx}, "sum", Attributes::Of(ReduceAttributes{axes, false})));
  return g;
}

TEST(Algebra, ASumBehindBatchNormIsNothingOverWholeChannelsAlone) {
  const auto changes = [](Shape shape, IntList axes) {
    return SumBehindNorm(std::move(shape), std::move(axes)).Run(passes::SimplifyAlgebra, true);
  };
  EXPECT_TRUE(changes({4, 2, 3, 3}, {0, 2, 3}));
  EXPECT_TRUE(changes({4, 2, 3, 3}, {-1, -2, 0}));
  EXPECT_TRUE(changes({4, 2, 3, 3}, {}));  // all of them
  EXPECT_TRUE(changes({4, 2}, {0}));
  EXPECT_FALSE(changes({4, 2, 3, 3}, {0, 2}));
  EXPECT_FALSE(changes({4, 2, 3}, {0, 1}));  // a bias of linear, along the last axis
  EXPECT_TRUE(SumBehindNorm({4, 2, 3}, {0, 2}, /*cast=*/true).Run(passes::SimplifyAlgebra, true));
}

// The gradient of columns [begin, end) of a tensor of this shape.
ValueId OfColumns(PassGraph& g, const std::string& name, int64_t begin, int64_t end, Shape shape) {
  Shape part = shape;
  part[1] = Dim(end - begin);
  const ValueId gradient = g.Node(OpId::exp, {g.Input("x" + name, part)}, "gradient" + name);
  return g.Node(OpId::slice_grad, {gradient}, name,
                Attributes::Of(SliceGradAttributes{{1}, {begin}, {end}, {}, std::move(shape)}));
}

// As the four gates of a cell have them: one tensor of four parts, made behind them and before what
// stands behind their sum.
TEST(Algebra, PartsThatCoverATensorAreJoinedInOne) {
  PassGraph g;
  ValueId sum = OfColumns(g, "a", 0, 2, {3, 8});
  for (const int64_t gate : {1, 2, 3}) {
    const std::string name(1, static_cast<char>('a' + gate));
    sum =
        g.Node(OpId::add, {sum, OfColumns(g, name, 2 * gate, 2 * gate + 2, {3, 8})}, "to_" + name);
  }
  g.Output(g.Node(OpId::exp, {sum}, "reader"));
  g.Output(g.Node(OpId::exp, {g.Input("other", {3, 8})}, "other_reader"), "other");
  EXPECT_TRUE(g.Run(passes::SimplifyAlgebra));
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra));
  g.Run(passes::EliminateDeadCode);
  EXPECT_EQ(g.Count(OpId::slice_grad), 0);
  ASSERT_EQ(g.Count(OpId::concat), 1);
  EXPECT_EQ(g.Count(OpId::add), 1);
  std::vector<std::string> names;
  for (const Node& node : g.graph.nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"gradienta", "gradientb", "gradientc", "gradientd",
                                             "to_d.parts", "to_d", "reader", "other_reader"}));
}

TEST(Algebra, PartsThatDoNotTouchOrAreOfTensorsThatRepeatAreLeft) {
  const auto changes = [](int64_t begin, int64_t rows) {
    PassGraph g;
    const ValueId first = OfColumns(g, "a", 0, 2, {3, 8});
    g.Output(g.Node(OpId::add, {first, OfColumns(g, "b", begin, 8, {rows, 8})}, "sum"));
    return g.Run(passes::SimplifyAlgebra);
  };
  EXPECT_TRUE(changes(2, 3));
  EXPECT_FALSE(changes(3, 3));
  EXPECT_FALSE(changes(1, 3));
  EXPECT_FALSE(changes(2, 1)) << "add repeats the one row of a part for each of the other's";
}

TEST(Algebra, PartsThatOthersReadAreLeft) {
  PassGraph g;
  const ValueId first = OfColumns(g, "a", 0, 2, {3, 8});
  g.Output(g.Node(OpId::add, {first, OfColumns(g, "b", 2, 8, {3, 8})}, "sum"));
  g.Output(first, "kept");
  EXPECT_FALSE(g.Run(passes::SimplifyAlgebra));
}

}  // namespace
}  // namespace cgrun
