// Cases of pow and its gradients. Known results: PyTorch, which follows C.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput Bases() { return Given({8}, {2, -2, 0, 0, 0, 4, 0, 0}); }
CaseInput Exponents() { return Given({8}, {3, 3, 0, 1, 2, -0.5, -1, 0.5}); }
CaseInput Ones() { return Given({8}, {1, 1, 1, 1, 1, 1, 1, 1}); }

}  // namespace

std::vector<OpCase> pow() {
  return {
      {.name = "known",
       .inputs = {Bases(), Exponents()},
       .expected = {{8, -8, 1, 0, 0, 0.5, kInfinity, 0}},
       .check_gradient = false},
      {.name = "special values",
       .inputs = {Given({12}, {kNaN, 1, kNaN, -1, kInfinity, -kInfinity, 0, -0.0, -8, -0.0, -0.0,
                               kInfinity}),
                  Given({12}, {0, kNaN, 1, kInfinity, -1, 3, -1, -1, 0.25, 3, -2, 0})},
       .expected = {{1, 1, kNaN, 1, 0, -kInfinity, kInfinity, -kInfinity, kNaN, -0.0, kInfinity,
                     1}},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({2, 3, 4}, 0.5, 2), Uniform({2, 3, 4})}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}, 0.5, 2), Uniform({5, 1})}},
      {.name = "squares", .inputs = {Uniform({3, 4}), Given({}, {2})}, .gradient_inputs = {0}},
      {.name = "squares of 0",
       .inputs = {Given({3}, {0, -0.5, 2}), Given({}, {2})},
       .gradient_inputs = {0}},
      {.name = "first powers of 0",
       .inputs = {Given({2}, {0, 3}), Given({1}, {1})},
       .gradient_inputs = {0}},
      {.name = "an exponent a column",
       .inputs = {Uniform({4, 3}), Given({3}, {3, -2, 0})},
       .gradient_inputs = {0}},
      {.name = "powers of one number", .inputs = {Given({}, {2.5}), Uniform({3, 4})}},
      {.name = "both repeated", .inputs = {Uniform({4, 1}, 0.5, 2), Uniform({2, 1, 3})}},
      {.name = "shapes", .inputs = {Uniform({2, 3}), Uniform({2})}, .error = "do not go together"},
      {.name = "integers",
       .inputs = {Uniform({4}), Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point inputs of one type"},
  };
}

std::vector<OpCase> pow_base_grad() {
  return {
      {.name = "known",
       .inputs = {Bases(), Exponents(), Ones()},
       .expected = {{12, 12, 0, 1, 0, -0.0625, -kInfinity, kInfinity}}},
      {.name = "exponent 0",
       .inputs = {Given({3}, {kNaN, kInfinity, 2}), Given({}, {0}), Given({3}, {1, kNaN, 5})},
       .expected = {{0, 0, 0}}},
      {.name = "several vectors",
       .inputs = {Pattern({5, 67}, 7, 11), Pattern({67}, 3, 5), Uniform({5, 67})}},
      {.name = "gradient of another shape",
       .inputs = {Uniform({2}), Uniform({3, 1}), Uniform({3, 1})},
       .error = "needs a gradient f64[3, 2]"},
  };
}

std::vector<OpCase> pow_exponent_grad() {
  return {
      {.name = "known",
       .inputs = {Bases(), Given({8}, {8, -8, 1, 0, 0, 0.5, kInfinity, 0}), Ones()},
       .expected = {{5.54517744448, kNaN, 0, 0, 0, 0.69314718056, -kInfinity, 0}}},
      {.name = "base -0",
       .inputs = {Given({2}, {-0.0, -0.0}), Given({2}, {-0.0, -kInfinity}), Given({2}, {1, 1})},
       .expected = {{0, kInfinity}}},
      {.name = "one base",
       .inputs = {Given({}, {2}), Given({3}, {1, 2, 4}), Given({3}, {1, 1, 2})},
       .expected = {{0.69314718056, 1.38629436112, 5.54517744448}}},
      {.name = "y of another type",
       .inputs = {Uniform({2}), Given({2}, {}, DType::kF32), Uniform({2})},
       .error = "of one type"},
  };
}

}  // namespace cgrun::op_cases
