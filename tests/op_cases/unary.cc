// Cases of neg, exp, log, sqrt, erf. Known results: NumPy and Python's math.erf.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<OpCase> neg() {
  return {
      {"known", {}, {Given({4}, {1, -2, 0, kInfinity})}, {{-1, 2, -0.0, -kInfinity}}, {}, false},
      {"random", {}, {Uniform({2, 3, 4})}},
      {"scalar", {}, {Uniform({})}},
      {"integers", {}, {Given({3}, {3, 0, -7}, DType::kI64)}, {{-3, 0, 7}}},
      {"integers that wrap around",
       {},
       {Given({2}, {-2147483648.0, 5}, DType::kI32)},
       {{-2147483648.0, -5}}},
      {"bools", {}, {Integers({2}, DType::kBool, 0, 1)}, {}, {}, true, "floats or integers"},
  };
}

std::vector<OpCase> exp() {
  return {
      {"known",
       {},
       {Given({5}, {0, 1, -1, -kInfinity, kInfinity})},
       {{1, 2.718281828459045, 0.36787944117144233, 0, kInfinity}},
       {},
       false},
      {"NaN", {}, {Given({1}, {kNaN})}, {{kNaN}}, {}, false},
      {"random", {}, {Uniform({2, 3, 4})}},
      {"integers", {}, {Integers({2}, DType::kU8, 0, 3)}, {}, {}, true, "floating-point"},
  };
}

std::vector<OpCase> log() {
  return {
      {"known",
       {},
       {Given({6}, {1, 10, 0.5, 0, -1, kInfinity})},
       {{0, 2.302585092994046, -0.6931471805599453, -kInfinity, kNaN, kInfinity}},
       {},
       false},
      {"random", {}, {Uniform({2, 3, 4}, 0.2, 3)}},
      {"integers", {}, {Integers({2}, DType::kU8, 1, 3)}, {}, {}, true, "floating-point"},
  };
}

std::vector<OpCase> sqrt() {
  return {
      {"known",
       {},
       {Given({6}, {4, 2, 0, -0.0, -1, kInfinity})},
       {{2, 1.4142135623730951, 0, -0.0, kNaN, kInfinity}},
       {},
       false},
      {"random", {}, {Uniform({2, 3, 4}, 0.2, 3)}},
      {"integers", {}, {Integers({2}, DType::kU8, 1, 3)}, {}, {}, true, "floating-point"},
  };
}

std::vector<OpCase> erf() {
  return {
      {.name = "known",
       .inputs = {Given({8}, {0, -0.0, 0.5, -1, 3, kInfinity, -kInfinity, kNaN})},
       .expected = {{0, -0.0, 0.520499877813, -0.84270079295, 0.999977909503, 1, -1, kNaN}},
       .check_gradient = false},
      {.name = "random", .inputs = {Uniform({2, 3, 4})}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}, -4, 4)}},
      {.name = "integers", .inputs = {Integers({2}, DType::kU8, 1, 3)}, .error = "floating-point"},
  };
}

}  // namespace cgrun::op_cases
