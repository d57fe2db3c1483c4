#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

std::vector<OpCase> relu() {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"signs", {}, {Given({5}, {-1, -0.5, 0, 2, inf})}, {{0, 0, 0, 2, inf}}, {}, false},
      {"random", {}, {Uniform({3, 4, 5})}},
      {"integers are refused",
       {},
       {Integers({4}, DType::kI32, 0, 3)},
       {},
       {},
       true,
       "floating-point"},
  };
}

std::vector<OpCase> relu_grad() {
  return {
      {"signs", {}, {Given({3}, {0, 2, 3}), Given({3}, {5, 6, -7})}, {{0, 6, -7}}, {}, false},
      {.name = "random", .inputs = {Uniform({3, 4}), Uniform({3, 4})}, .gradient_inputs = {1}},
      {"shapes differ", {}, {Uniform({3}), Uniform({4})}, {}, {}, true, "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
