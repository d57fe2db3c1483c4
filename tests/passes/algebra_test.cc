// Algebraic identities: which hold bit for bit, and which only where the file allows inexact
// rewrites.
#include <cmath>
#include <cstring>
#include <limits>

#include "src/ops/matmul.h"
#include "src/ops/transpose.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const HostTensor& Inputs() {
  static const HostTensor tensor = HostTensor::Of<float>({5}, {0.0f, -0.0f, kInf, -kInf, 1.5f});
  return tensor;
}

// op(x, number), or op(number, x) with `first`.
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

// A product of x, its last two axes exchanged, with one matrix.
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

}  // namespace
}  // namespace cgrun
