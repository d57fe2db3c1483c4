// Cases of softplus and its gradient. Known results: by hand, and Python's math.log1p and math.exp.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<OpCase> softplus() {
  return {
      {.name = "known",
       .inputs = {Given({4}, {-2, 0, 1, 3})},
       .expected = {{0.126928011043, 0.69314718056, 1.313261687518, 3.048587351573}}},
      {.name = "no overflow",
       .inputs = {Given({5}, {-800, 800, kInfinity, -kInfinity, kNaN})},
       .expected = {{0, 800, kInfinity, 0, kNaN}},
       .check_gradient = false},  // no finite differences there
      {.name = "random", .inputs = {Uniform({2, 3, 4})}},
      {.name = "integers", .inputs = {Integers({4}, DType::kI32, 0, 3)}, .error = "floating-point"},
  };
}

std::vector<OpCase> softplus_grad() {
  return {
      // 1 - e^-log(2) = 1/2
      {.name = "known",
       .inputs = {Given({3}, {0.69314718056, 0, 800}), Given({3}, {3, 5, -4})},
       .expected = {{1.5, 0, -4}}},
      {.name = "shapes differ", .inputs = {Uniform({3}), Uniform({4})}, .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
