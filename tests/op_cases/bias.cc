#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

std::vector<OpCase> bias() {
  return {
      // The results are worked out by hand.
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2}, {10, -10})}, {{11, -8, 13, -6}}},
      {"known, images",
       {},
       {Given({1, 2, 1, 2}, {1, 2, 3, 4}), Given({2}, {10, -10})},
       {{11, 12, -7, -6}}},
      {"images", {}, {Uniform({3, 4, 2, 5}), Uniform({4})}},
      {"one channel", {}, {Uniform({2, 1, 3}), Uniform({1})}},
      {"one pixel", {}, {Uniform({1, 5, 1, 1}), Uniform({5})}},
      {"too short",
       {},
       {Uniform({2, 3, 4}), Uniform({2})},
       {},
       {},
       true,
       "`bias` must be f64[3] for an input f64[2, 3, 4], not f64[2]"},
      {"no channels", {}, {Uniform({3}), Uniform({3})}, {}, {}, true, "channels"},
      {"integers",
       {},
       {Integers({2, 3}, DType::kI32, 0, 3), Uniform({3})},
       {},
       {},
       true,
       "floating-point"},
  };
}

}  // namespace cgrun::op_cases
