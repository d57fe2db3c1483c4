// Cases of neg.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

std::vector<OpCase> neg() {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"known", {}, {Given({4}, {1, -2, 0, inf})}, {{-1, 2, -0.0, -inf}}, {}, false},
      {"random", {}, {Uniform({2, 3, 4})}},
      {"scalar", {}, {Uniform({})}},
      {"integers", {}, {Integers({2}, DType::kI64, 0, 3)}, {}, {}, true, "floating-point"},
  };
}

}  // namespace cgrun::op_cases
