// Cases of min, max and their gradient. Known results: PyTorch's minimum and maximum; of zeros,
// IEEE 754-2019's.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput A() { return Given({9}, {1, 2, 3, kNaN, 1, kNaN, -0.0, 0, -kInfinity}); }
CaseInput B() { return Given({9}, {2, 2, 1, 1, kNaN, kNaN, 0, -0.0, 3}); }

std::vector<OpCase> With(OpCase known) {
  return {
      std::move(known),
      {.name = "random", .inputs = {Uniform({2, 3, 4}), Uniform({2, 3, 4})}},
      {.name = "rows", .inputs = {Uniform({4, 3}), Uniform({3})}},
      {.name = "several vectors", .inputs = {Uniform({5, 67}), Uniform({5, 1})}},
      {.name = "both repeated", .inputs = {Uniform({4, 1}), Uniform({2, 1, 3})}},
      {.name = "scalar", .inputs = {Uniform({}, -0.5, 0.5), Uniform({3, 4})}},
      {.name = "ties are kinks", .inputs = {Given({3}, {1, 2, 3}), Given({3}, {1, 3, 2})}},
      {.name = "shapes", .inputs = {Uniform({2, 3}), Uniform({2})}, .error = "do not go together"},
      {.name = "integers",
       .inputs = {Integers({4}, DType::kI32, -3, 3), Integers({4}, DType::kI32, -3, 3)}},
      {.name = "bools",
       .inputs = {Integers({4}, DType::kBool, 0, 1), Integers({4}, DType::kBool, 0, 1)},
       .error = "one type, floats or integers"},
  };
}

}  // namespace

std::vector<OpCase> min() {
  return With({.name = "known",
               .inputs = {A(), B()},
               .expected = {{1, 2, 1, kNaN, kNaN, kNaN, -0.0, -0.0, -kInfinity}},
               .check_gradient = false});
}

std::vector<OpCase> max() {
  return With({.name = "known",
               .inputs = {A(), B()},
               .expected = {{2, 2, 3, kNaN, kNaN, kNaN, 0, 0, 3}},
               .check_gradient = false});
}

std::vector<OpCase> max_grad() {
  const CaseInput dy = Given({9}, {4, 6, 5, 7, 8, 9, 2, -2, 3});
  return {
      {.name = "ties halve", .inputs = {A(), B(), dy}, .expected = {{0, 3, 5, 7, 8, 9, 1, -1, 0}}},
      {.name = "of the other",
       .inputs = {B(), A(), dy},
       .expected = {{4, 3, 0, 7, 8, 9, 1, -1, 3}}},
      {.name = "repeated",
       .inputs = {Given({2, 1}, {1, 3}), Given({3}, {0, 1, 3}),
                  Given({2, 3}, {2, 4, 6, 8, 10, 12})},
       .expected = {{2, 2, 0, 8, 10, 6}}},
      {.name = "several vectors",
       .inputs = {Pattern({5, 67}, 7, 11), Pattern({67}, 3, 11), Uniform({5, 67})}},
      {.name = "gradient of another shape",
       .inputs = {Uniform({2, 1}), Uniform({3}), Uniform({2, 1})},
       .error = "needs a gradient f64[2, 3]"},
  };
}

}  // namespace cgrun::op_cases
