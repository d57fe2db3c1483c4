// Cases of sign, ceil, floor and round. Known results: by hand.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput Steps() {
  return Given({12},
               {0, -0.0, 0.5, 1.5, 2.5, -0.5, -2.5, -3.75, 3.25, kInfinity, -kInfinity, kNaN});
}

// Each has `expected` of Steps().
std::vector<OpCase> StepCases(std::vector<double> expected) {
  return {
      {.name = "known", .inputs = {Steps()}, .expected = {std::move(expected)}},
      {.name = "several vectors", .inputs = {Pattern({5, 67}, 7, 23)}},
      {.name = "bools", .inputs = {Integers({2}, DType::kBool, 0, 1)}, .error = "float"},
  };
}

}  // namespace

std::vector<OpCase> sign() {
  auto cases = StepCases({0, 0, 1, 1, 1, -1, -1, -1, 1, 1, -1, kNaN});
  cases.push_back({.name = "integers",
                   .inputs = {Given({3}, {-7, 0, 9}, DType::kI64)},
                   .expected = {{-1, 0, 1}}});
  cases.push_back(
      {.name = "bytes", .inputs = {Given({2}, {255, 0}, DType::kU8)}, .expected = {{1, 0}}});
  return cases;
}

std::vector<OpCase> ceil() {
  return StepCases({0, -0.0, 1, 2, 3, -0.0, -2, -3, 4, kInfinity, -kInfinity, kNaN});
}

std::vector<OpCase> floor() {
  return StepCases({0, -0.0, 0, 1, 2, -1, -3, -4, 3, kInfinity, -kInfinity, kNaN});
}

std::vector<OpCase> round() {
  return StepCases({0, -0.0, 0, 2, 2, -0.0, -2, -4, 3, kInfinity, -kInfinity, kNaN});
}

}  // namespace cgrun::op_cases
