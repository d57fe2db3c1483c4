// Cases of neg, exp, log, sqrt. Known results: NumPy.
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
      {"integers", {}, {Integers({2}, DType::kI64, 0, 3)}, {}, {}, true, "floating-point"},
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

}  // namespace cgrun::op_cases
