// Cases of the trigonometric and hyperbolic functions and their inverses. Known results: NumPy.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A known result, random numbers in [low, high] for the gradient, and integers, which are refused.
std::vector<OpCase> Function(std::vector<double> x, std::vector<double> y, double low,
                             double high) {
  const auto count = static_cast<int64_t>(x.size());
  return {
      {.name = "known",
       .inputs = {Given({count}, std::move(x))},
       .expected = {std::move(y)},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({2, 3, 4}, low, high)}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}, low, high)}},
      {.name = "integers", .inputs = {Integers({2}, DType::kI32, 0, 1)}, .error = "floating-point"},
  };
}

}  // namespace

// Beyond 39,000 the vector kernel takes another way.
std::vector<OpCase> sin() {
  auto cases =
      Function({0, -0.0, 0.5, -1, 2, kInfinity, kNaN},
               {0, -0.0, 0.479425538604, -0.841470984808, 0.909297426826, kNaN, kNaN}, -4, 4);
  cases.push_back({.name = "large angles",
                   .inputs = {Given({3}, {65536, -131072, 1})},
                   .expected = {{0.692065453823, 0.999113788951, 0.841470984808}},
                   .check_gradient = false});
  return cases;
}

std::vector<OpCase> cos() {
  auto cases = Function({0, 0.5, -1, 2, -kInfinity, kNaN},
                        {1, 0.87758256189, 0.540302305868, -0.416146836547, kNaN, kNaN}, -4, 4);
  cases.push_back({.name = "large angles",
                   .inputs = {Given({3}, {65536, -131072, 1})},
                   .expected = {{-0.721834750913, 0.0420908152503, 0.540302305868}},
                   .check_gradient = false});
  return cases;
}

std::vector<OpCase> tan() {
  return Function({0, 0.5, -1, 2}, {0, 0.546302489844, -1.55740772465, -2.18503986326}, -1, 1);
}

std::vector<OpCase> asin() {
  return Function({0, 0.5, -1, 1.5}, {0, 0.523598775598, -1.57079632679, kNaN}, -0.9, 0.9);
}

std::vector<OpCase> acos() {
  return Function({0, 0.5, -1, 1.5}, {1.57079632679, 1.0471975512, 3.14159265359, kNaN}, -0.9, 0.9);
}

std::vector<OpCase> atan() {
  return Function({0, 0.5, -1, 20, kInfinity},
                  {0, 0.463647609001, -0.785398163397, 1.52083793107, 1.57079632679}, -4, 4);
}

std::vector<OpCase> sinh() {
  return Function({0, 0.5, -1, 3}, {0, 0.521095305494, -1.17520119364, 10.0178749274}, -2, 2);
}

std::vector<OpCase> cosh() {
  return Function({0, 0.5, -1, 3}, {1, 1.12762596521, 1.54308063482, 10.0676619958}, -2, 2);
}

std::vector<OpCase> asinh() {
  return Function({0, 0.5, -1, 20}, {0, 0.48121182506, -0.88137358702, 3.68950386899}, -4, 4);
}

std::vector<OpCase> acosh() {
  return Function({1, 1.5, 20, 0.5}, {0, 0.962423650119, 3.68825386736, kNaN}, 1.2, 4);
}

std::vector<OpCase> atanh() {
  return Function({0, 0.5, -0.9, 1, 2}, {0, 0.549306144334, -1.47221948958, kInfinity, kNaN}, -0.8,
                  0.8);
}

}  // namespace cgrun::op_cases
