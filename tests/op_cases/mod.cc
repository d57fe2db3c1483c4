// Cases of mod. Known results: NumPy's mod and fmod; those of a division by 0 by hand.
#include "src/ops/mod.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Truncate(bool truncate) { return Attributes::Of(ModAttributes{truncate}); }

CaseInput Dividends() { return Given({6}, {5.25, -5.25, 5.25, -5.25, 6, -6}); }
CaseInput Divisors() { return Given({6}, {2, 2, -2, -2, 3, 3}); }

}  // namespace

std::vector<OpCase> mod() {
  constexpr double kLeast = -2147483648.0;
  return {
      {.name = "sign of b",
       .attributes = Truncate(false),
       .inputs = {Dividends(), Divisors()},
       .expected = {{1.25, 0.75, -0.75, -1.25, 0, 0}},
       .gradient_inputs = {0}},
      {.name = "sign of a",
       .attributes = Truncate(true),
       .inputs = {Dividends(), Divisors()},
       .expected = {{1.25, -1.25, 1.25, -1.25, 0, -0.0}},
       .gradient_inputs = {0}},
      {.name = "special values",
       .attributes = Truncate(false),
       .inputs = {Given({3}, {1, kInfinity, kNaN}), Given({3}, {0, 2, 2})},
       .expected = {{kNaN, kNaN, kNaN}},
       .check_gradient = false},
      {.name = "integers",
       .attributes = Truncate(false),
       .inputs = {Given({6}, {-4, 7, 5, 4, -7, kLeast}, DType::kI32),
                  Given({6}, {2, -3, 8, -2, 3, -1}, DType::kI32)},
       .expected = {{0, -2, 5, 0, 2, 0}}},
      {.name = "integers, sign of a",
       .attributes = Truncate(true),
       .inputs = {Given({6}, {-4, 7, 5, 4, -7, 8}, DType::kI64),
                  Given({6}, {2, -3, 8, -2, 3, 0}, DType::kI64)},
       .expected = {{0, 1, 5, 0, -1, 0}}},
      {.name = "gradient",
       .attributes = Truncate(false),
       .inputs = {Given({2, 3}, {5.25, -5.25, 0.75, 7.5, -1.25, 3.5}),
                  Given({3}, {2, -1.5, 0.625})}},
      {.name = "gradient, truncated",
       .attributes = Truncate(true),
       .inputs = {Given({2, 3}, {5.25, -5.25, 0.75, 7.5, -1.25, 3.5}),
                  Given({3}, {2, -1.5, 0.625})}},
      {.name = "types differ",
       .attributes = Truncate(false),
       .inputs = {Uniform({3}), Integers({3}, DType::kI32, 1, 3)},
       .error = "one type, floats or integers"},
  };
}

}  // namespace cgrun::op_cases
