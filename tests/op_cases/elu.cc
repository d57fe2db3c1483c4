// Cases of elu and its gradient. Known results: Python's math.expm1.
#include "src/ops/elu.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Alpha(double alpha) { return Attributes::Of(EluAttributes{alpha}); }

}  // namespace

std::vector<OpCase> elu() {
  return {
      {.name = "known",
       .attributes = Alpha(1.5),
       .inputs = {Given({7}, {-2, -0.5, 0, 3, -kInfinity, kInfinity, kNaN})},
       .expected = {{-1.29699707515, -0.590204010431, 0, 3, -1.5, kInfinity, kNaN}},
       .check_gradient = false},
      {.name = "random", .attributes = Alpha(1), .inputs = {Uniform({2, 3, 4})}},
      {.name = "negative alpha", .attributes = Alpha(-0.5), .inputs = {Uniform({2, 3})}},
      {.name = "integers",
       .attributes = Alpha(1),
       .inputs = {Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point"},
  };
}

std::vector<OpCase> elu_grad() {
  return {
      // e^-2·1.5·10
      {.name = "known",
       .attributes = Alpha(1.5),
       .inputs = {Given({3}, {-2, 0, 3}), Given({3}, {10, 10, 10})},
       .expected = {{2.03002924855, 15, 10}}},
      {.name = "shapes differ",
       .attributes = Alpha(1),
       .inputs = {Uniform({3}), Uniform({4})},
       .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
