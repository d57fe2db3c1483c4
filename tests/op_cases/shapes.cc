// Cases of broadcast and reshape.
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Repeat(Shape shape, bool average = false) {
  return Attributes::Of(BroadcastAttributes{std::move(shape), average});
}

Attributes To(Shape shape) { return Attributes::Of(ReshapeAttributes{std::move(shape)}); }

}  // namespace

std::vector<OpCase> broadcast() {
  return {
      {"column", Repeat({2, 3}), {Given({2, 1}, {1, 2})}, {{1, 1, 1, 2, 2, 2}}},
      {"row, average", Repeat({2, 3}, true), {Given({1, 3}, {2, 4, 6})}, {{1, 2, 3, 1, 2, 3}}},
      {"bytes", Repeat({2, 2}), {Given({1, 2}, {7, 9}, DType::kU8)}, {{7, 9, 7, 9}}},
      {"inner axis", Repeat({2, 3, 4}), {Uniform({2, 1, 4})}},
      {"outer axes, average", Repeat({2, 3, 4}, true), {Uniform({1, 3, 1})}},
      {"nothing repeated", Repeat({2, 3}), {Uniform({2, 3})}},
      {"scalar", Repeat({}), {Uniform({})}},
      {"ranks differ", Repeat({2, 3}), {Uniform({3})}, {}, {}, true, "cannot repeat"},
      {"sizes differ", Repeat({4, 3}), {Uniform({2, 3})}, {}, {}, true, "cannot repeat"},
      {"average of integers",
       Repeat({4}, true),
       {Integers({1}, DType::kI32, 1, 2)},
       {},
       {},
       true,
       "floating-point"},
  };
}

std::vector<OpCase> reshape() {
  return {
      {"known", To({3, 2}), {Given({2, 3}, {1, 2, 3, 4, 5, 6})}, {{1, 2, 3, 4, 5, 6}}},
      {"open size", To({2, -1, 2}), {Uniform({2, 3, 4})}},
      {"to a scalar", To({}), {Uniform({1, 1})}},
      {"from a scalar", To({1, -1}), {Uniform({})}},
      {"bytes", To({4}), {Integers({2, 2}, DType::kU8, 0, 255)}, {}, {}, false},
      {"elements differ", To({4, 2}), {Uniform({2, 3})}, {}, {}, true, "cannot reshape"},
      {"does not divide", To({4, -1}), {Uniform({2, 3})}, {}, {}, true, "cannot reshape"},
      {"two open sizes", To({-1, -1}), {Uniform({2, 3})}, {}, {}, true, "are -1"},
      {"size 0", To({0, -1}), {Uniform({2, 3})}, {}, {}, true, "cannot reshape"},
      {"too large",
       To({int64_t{1} << 40, int64_t{1} << 40}),
       {Uniform({2, 3})},
       {},
       {},
       true,
       "cannot reshape"},
      {"batch in two places",
       To({kBatchDim, kBatchDim}),
       {Uniform({kBatchDim, 3})},
       {},
       {},
       true,
       "cannot reshape"},
  };
}

}  // namespace cgrun::op_cases
