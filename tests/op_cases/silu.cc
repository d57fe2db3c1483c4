// Cases of silu and hard_swish, and of their gradients. Known results: Python's math.exp, and by
// hand; at infinities, the limits.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput AnyEnds() { return Given({6}, {kInfinity, -kInfinity, kNaN, -800, 1e30, -1e30}); }
CaseInput AnySlopes() { return Given({6}, {2, 3, 1, 5, -7, 4}); }

}  // namespace

std::vector<OpCase> silu() {
  return {
      {.name = "known",
       .inputs = {Given({5}, {-3, -1, -0.0, 0.5, 2})},
       .expected = {{-0.142277619532700, -0.268941421369995, -0.0, 0.311229665600927,
                     1.761594155955765}}},
      {.name = "ends",
       .inputs = {AnyEnds()},
       .expected = {{kInfinity, -0.0, kNaN, -0.0, 1e30, -0.0}},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({3, 4, 5}, -5, 5)}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}, -20, 20)}},
      {.name = "integers", .inputs = {Integers({4}, DType::kI32, 0, 3)}, .error = "floating-point"},
  };
}

std::vector<OpCase> silu_grad() {
  return {
      {.name = "known",
       .inputs = {Given({4}, {-1, 0, 0.5, 2}), Given({4}, {1, -2, 3, 1})},
       .expected = {{0.072329488128513, -1, 2.219883561907956, 1.090784248784595}}},
      {.name = "ends", .inputs = {AnyEnds(), AnySlopes()}, .expected = {{2, 0, kNaN, 0, -7, 0}}},
      {.name = "several vectors", .inputs = {Uniform({335}, -20, 20), Uniform({335})}},
      {.name = "shapes differ", .inputs = {Uniform({3}), Uniform({4})}, .error = "inputs differ"},
  };
}

std::vector<OpCase> hard_swish() {
  return {
      {.name = "known",
       .inputs = {Given({7}, {-4, -3, -1.5, 0, 1, 3, 5})},
       .expected = {{-0.0, -0.0, -0.375, 0, 0.666666666666667, 3, 5}},
       .check_gradient = false},  // it has two kinks
      {.name = "ends",
       .inputs = {AnyEnds()},
       .expected = {{kInfinity, -0.0, kNaN, -0.0, 1e30, -0.0}},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({3, 4, 5}, -2.9, 2.9)}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}, 3.1, 20)}},
      {.name = "integers", .inputs = {Integers({4}, DType::kI32, 0, 3)}, .error = "floating-point"},
  };
}

std::vector<OpCase> hard_swish_grad() {
  return {
      {.name = "known",
       .inputs = {Given({6}, {-4, -3, -1.5, 1, 3, 5}), Given({6}, {1, 2, 3, 4, 5, -6})},
       .expected = {{0, 0, 0, 3.333333333333333, 5, -6}}},
      {.name = "ends", .inputs = {AnyEnds(), AnySlopes()}, .expected = {{2, 0, kNaN, 0, -7, 0}}},
      {.name = "several vectors", .inputs = {Uniform({335}, -5, 5), Uniform({335})}},
      {.name = "shapes differ", .inputs = {Uniform({3}), Uniform({4})}, .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
