// Cases of matmul: every transposition, stacks, single matrices that go with stacks.
#include "src/ops/matmul.h"

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Transpose(bool a, bool b) { return Attributes::Of(MatmulAttributes{a, b}); }

OpCase Refused(std::string name, CaseInput a, CaseInput b, std::string error) {
  return {std::move(name), Transpose(false, false), {std::move(a), std::move(b)}, {}, {}, true,
          std::move(error)};
}

}  // namespace

std::vector<OpCase> matmul() {
  // The product is worked by hand: it is [1 2 3; 4 5 6] · [1 0; 2 -1; 0 3].
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, a_transposed = {1, 4, 2, 5, 3, 6};
  const std::vector<double> b = {1, 0, 2, -1, 0, 3}, b_transposed = {1, 2, 0, 0, -1, 3};
  const std::vector<std::vector<double>> product = {{5, 7, 14, 13}};
  std::vector<OpCase> cases = {
      {"known", Transpose(false, false), {Given({2, 3}, a), Given({3, 2}, b)}, product},
      {"known, a transposed",
       Transpose(true, false),
       {Given({3, 2}, a_transposed), Given({3, 2}, b)},
       product},
      {"known, b transposed",
       Transpose(false, true),
       {Given({2, 3}, a), Given({2, 3}, b_transposed)},
       product},
      {"known, both transposed",
       Transpose(true, true),
       {Given({3, 2}, a_transposed), Given({2, 3}, b_transposed)},
       product},
      // This case is worked by hand: two matrices are multiplied with one, 1·[1 2; 3 4] and 2·[1 2;
      // 3 4].
      {"known, stack with one matrix",
       Transpose(false, false),
       {Given({2, 1, 2}, {1, 1, 2, 2}), Given({2, 2}, {1, 2, 3, 4})},
       {{4, 6, 8, 12}}},
      {"row by column", Transpose(false, false), {Uniform({1, 7}), Uniform({7, 1})}},
      {"column by row", Transpose(false, false), {Uniform({5, 1}), Uniform({1, 6})}},
      {"one number", Transpose(true, true), {Uniform({1, 1}), Uniform({1, 1})}},
      // More rows and columns than one group and one panel of the reference kernel.
      {"many rows and columns", Transpose(false, false), {Uniform({9, 3}), Uniform({3, 19})}},
      {"two leading axes", Transpose(false, true), {Uniform({2, 3, 2, 4}), Uniform({2, 3, 3, 4})}},
      {"two leading axes with one matrix",
       Transpose(false, true),
       {Uniform({2, 3, 2, 4}), Uniform({3, 4})}},
      Refused("inner sizes differ", Uniform({2, 3}), Uniform({2, 3}), "[2, 3] and [2, 3] differ"),
      Refused("stacks differ", Uniform({2, 3, 4}), Uniform({3, 4, 5}), "leading axes"),
      Refused("one stack is deeper", Uniform({2, 2, 3, 4}), Uniform({2, 4, 5}), "leading axes"),
      Refused("vector", Uniform({3}), Uniform({3, 2}), "matrices"),
      Refused("batch twice", Uniform({kBatchDim, 3}), Uniform({3, kBatchDim}), "[N, N]"),
      Refused("integers", Integers({2, 2}, DType::kI32, 0, 3), Uniform({2, 2}), "floating-point"),
  };
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const std::string name = std::string(ta ? "at" : "a") + (tb ? "bt" : "b");
      const Shape one_a = ta ? Shape{4, 5} : Shape{5, 4};
      const Shape one_b = tb ? Shape{3, 4} : Shape{4, 3};
      Shape many_a = one_a, many_b = one_b;
      many_a.dims().insert(many_a.dims().begin(), Dim(2));
      many_b.dims().insert(many_b.dims().begin(), Dim(2));
      cases.push_back({"matrices, " + name, Transpose(ta, tb), {Uniform(one_a), Uniform(one_b)}});
      cases.push_back({"stacks, " + name, Transpose(ta, tb), {Uniform(many_a), Uniform(many_b)}});
      cases.push_back(
          {"stack with one, " + name, Transpose(ta, tb), {Uniform(many_a), Uniform(one_b)}});
      cases.push_back(
          {"one with stack, " + name, Transpose(ta, tb), {Uniform(one_a), Uniform(many_b)}});
    }
  }
  return cases;
}

}  // namespace cgrun::op_cases
