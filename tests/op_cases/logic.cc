// Cases of the operators on bools. Known results: by hand.
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

CaseInput Condition(Shape shape, std::vector<double> values) {
  return Given(std::move(shape), std::move(values), DType::kBool);
}

// `expected` is that of the four pairs of bools.
std::vector<OpCase> LogicCases(std::vector<double> expected) {
  return {
      {.name = "known",
       .inputs = {Condition({4}, {0, 0, 1, 1}), Condition({4}, {0, 1, 0, 1})},
       .expected = {expected}},
      {.name = "repeated",
       .inputs = {Condition({2, 1}, {0, 1}), Condition({2}, {0, 1})},
       .expected = {expected}},
      {.name = "numbers",
       .inputs = {Condition({2}, {}), Uniform({2})},
       .error = "two inputs of type bool, not bool[2] and f64[2]"},
      {.name = "shapes",
       .inputs = {Condition({2}, {}), Condition({3}, {})},
       .error = "do not go together"},
  };
}

}  // namespace

std::vector<OpCase> logical_not() {
  return {
      {.name = "known", .inputs = {Condition({2}, {0, 1})}, .expected = {{1, 0}}},
      {.name = "numbers", .inputs = {Uniform({2})}, .error = "needs a bool, not f64[2]"},
  };
}

std::vector<OpCase> logical_and() { return LogicCases({0, 0, 0, 1}); }
std::vector<OpCase> logical_or() { return LogicCases({0, 1, 1, 1}); }
std::vector<OpCase> logical_xor() { return LogicCases({0, 1, 1, 0}); }

}  // namespace cgrun::op_cases
