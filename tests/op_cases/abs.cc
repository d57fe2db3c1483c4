// Cases of abs and its gradient. Known results: by hand; the gradient at 0 and NaN is PyTorch's.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<OpCase> abs() {
  return {
      {.name = "known",
       .inputs = {Given({7}, {-2, -0.0, 0, 3.5, kNaN, -kInfinity, kInfinity})},
       .expected = {{2, 0, 0, 3.5, kNaN, kInfinity, kInfinity}},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({2, 3, 4})}},
      {.name = "several vectors", .inputs = {Uniform({5, 67})}},
      {.name = "a kink", .inputs = {Given({3}, {-1, 0, 2})}},
      {.name = "integers",
       .inputs = {Given({4}, {-3, 0, 7, -2147483648.0}, DType::kI32)},
       .expected = {{3, 0, 7, -2147483648.0}}},
      {.name = "bytes", .inputs = {Given({2}, {255, 3}, DType::kU8)}, .expected = {{255, 3}}},
      {.name = "bools",
       .inputs = {Integers({4}, DType::kBool, 0, 1)},
       .error = "floats or integers"},
  };
}

std::vector<OpCase> abs_grad() {
  return {
      {.name = "known",
       .inputs = {Given({7}, {-2, -0.0, 0, 3.5, kNaN, -kInfinity, kInfinity}),
                  Given({7}, {2, 3, kInfinity, 4, 5, 6, kNaN})},
       .expected = {{-2, 0, 0, 4, 0, -6, kNaN}}},
      {.name = "shapes differ", .inputs = {Uniform({3}), Uniform({4})}, .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
