// Cases of compare, of where and of its gradient. Known results: by hand, from IEEE 754.
#include <limits>

#include "src/ops/compare.h"
#include "src/ops/where.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Is(std::string relation) {
  return Attributes::Of(CompareAttributes{std::move(relation)});
}

CaseInput Bools(Shape shape, std::vector<double> values) {
  return Given(std::move(shape), std::move(values), DType::kBool);
}

Attributes TakenIf(bool condition) { return Attributes::Of(WhereGradAttributes{condition}); }

}  // namespace

std::vector<OpCase> compare() {
  std::vector<OpCase> cases;
  const CaseInput a = Given({6}, {1, 2, 3, kNaN, -0.0, kInfinity});
  const CaseInput b = Given({6}, {2, 2, 2, kNaN, 0, kInfinity});
  const auto known = [&](std::string is, std::vector<double> expected) {
    cases.push_back({.name = is, .attributes = Is(is), .inputs = {a, b}, .expected = {expected}});
  };
  known("less", {1, 0, 0, 0, 0, 0});
  known("less_or_equal", {1, 1, 0, 0, 1, 1});
  known("equal", {0, 1, 0, 0, 1, 1});
  known("not_equal", {1, 0, 1, 1, 0, 0});
  known("greater", {0, 0, 1, 0, 0, 0});
  known("greater_or_equal", {0, 1, 1, 0, 1, 1});
  const std::vector<OpCase> more = {
      {.name = "several vectors",
       .attributes = Is("less_or_equal"),
       .inputs = {Pattern({5, 67}, 7, 11), Pattern({67}, 3, 11)}},
      {.name = "repeated",
       .attributes = Is("greater"),
       .inputs = {Given({2, 1}, {1, 3}), Given({3}, {0, 1, 2})},
       .expected = {{1, 0, 0, 1, 1, 1}}},
      // In f32, these would be equal.
      {.name = "large integers",
       .attributes = Is("equal"),
       .inputs = {Given({3}, {16777216, -3, 5}, DType::kI64),
                  Given({3}, {16777217, 3, 5}, DType::kI64)},
       .expected = {{0, 0, 1}}},
      {.name = "bytes",
       .attributes = Is("less"),
       .inputs = {Given({3}, {1, 255, 7}, DType::kU8), Given({}, {7}, DType::kU8)},
       .expected = {{1, 0, 0}}},
      {.name = "bools",
       .attributes = Is("less"),
       .inputs = {Bools({4}, {0, 0, 1, 1}), Bools({4}, {0, 1, 0, 1})},
       .expected = {{0, 1, 0, 0}}},
      {.name = "types differ",
       .attributes = Is("less"),
       .inputs = {Uniform({3}), Integers({3}, DType::kI32, 0, 3)},
       .error = "two inputs of one type, not f64[3] and int32[3]"},
      {.name = "shapes",
       .attributes = Is("less"),
       .inputs = {Uniform({2, 3}), Uniform({2})},
       .error = "do not go together"},
      {.name = "no such relation",
       .attributes = Is("<"),
       .inputs = {Uniform({3}), Uniform({3})},
       .error = "`is` must be one of less, less_or_equal, equal"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

std::vector<OpCase> where() {
  return {
      {.name = "several vectors",
       .inputs = {Integers({5, 67}, DType::kBool, 0, 1), Uniform({5, 67}), Uniform({67})}},
      {.name = "known",
       .inputs = {Bools({4}, {1, 0, 1, 0}), Given({4}, {1, kNaN, -0.0, kInfinity}),
                  Given({4}, {kNaN, 2, kInfinity, -0.0})},
       .expected = {{1, 2, -0.0, -0.0}},
       .check_gradient = false},
      {.name = "all of one shape",
       .inputs = {Integers({3, 4}, DType::kBool, 0, 1), Uniform({3, 4}), Uniform({3, 4})}},
      {.name = "a condition a row",
       .inputs = {Bools({3, 1}, {1, 0, 1}), Uniform({3, 4}), Uniform({4})}},
      {.name = "a scalar for the rest",
       .inputs = {Integers({2, 3, 2}, DType::kBool, 0, 1), Uniform({2, 3, 2}), Uniform({})}},
      {.name = "all repeated", .inputs = {Bools({2, 1, 1}, {0, 1}), Uniform({3, 1}), Uniform({4})}},
      {.name = "integers",
       .inputs = {Bools({3}, {0, 1, 1}), Given({3}, {1, 2, 3}, DType::kI64),
                  Given({}, {-7}, DType::kI64)},
       .expected = {{-7, 2, 3}}},
      {.name = "bools",
       .inputs = {Bools({2}, {0, 1}), Bools({2}, {0, 0}), Bools({2}, {1, 1})},
       .expected = {{1, 0}}},
      {.name = "condition is a number",
       .inputs = {Uniform({3}), Uniform({3}), Uniform({3})},
       .error = "a condition of type bool, not f64[3]"},
      {.name = "types differ",
       .inputs = {Bools({3}, {}), Uniform({3}), Integers({3}, DType::kI32, 0, 1)},
       .error = "a and b differ in type"},
      {.name = "shapes",
       .inputs = {Bools({2}, {}), Uniform({3}), Uniform({3})},
       .error = "shapes [2], [3] and [3] do not go together"},
  };
}

std::vector<OpCase> where_grad() {
  const CaseInput condition = Bools({2, 1}, {1, 0});
  const CaseInput dy = Given({2, 2}, {1, kNaN, kNaN, 4});
  return {
      {.name = "several vectors",
       .attributes = TakenIf(false),
       .inputs = {Integers({67}, DType::kBool, 0, 1), Uniform({5, 67})}},
      {.name = "of a",
       .attributes = TakenIf(true),
       .inputs = {condition, dy},
       .expected = {{1, kNaN, 0, 0}}},
      {.name = "of b",
       .attributes = TakenIf(false),
       .inputs = {condition, dy},
       .expected = {{0, 0, kNaN, 4}}},
      {.name = "gradient too small",
       .attributes = TakenIf(true),
       .inputs = {Bools({2, 3}, {}), Uniform({3})},
       .error = "a floating-point gradient that it goes with"},
  };
}

}  // namespace cgrun::op_cases
