// Cases of broadcast, reshape, flatten, transpose. Known results: by hand.
#include "src/ops/flatten.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/transpose.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Repeat(Shape shape, bool average = false) {
  return Attributes::Of(BroadcastAttributes{std::move(shape), average});
}

Attributes To(Shape shape) { return Attributes::Of(ReshapeAttributes{std::move(shape)}); }
Attributes From(int64_t axis) { return Attributes::Of(FlattenAttributes{axis}); }
Attributes Order(IntList perm) { return Attributes::Of(TransposeAttributes{std::move(perm)}); }

OpCase Refused(std::string name, Attributes attributes, CaseInput input, std::string error) {
  return {std::move(name), std::move(attributes), {std::move(input)}, {}, {}, true,
          std::move(error)};
}

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
      Refused("ranks differ", Repeat({2, 3}), Uniform({3}), "cannot repeat"),
      Refused("sizes differ", Repeat({4, 3}), Uniform({2, 3}), "cannot repeat"),
      Refused("size 0", Repeat({0}), Uniform({1}), "cannot repeat"),
      Refused("average of integers", Repeat({4}, true), Integers({1}, DType::kI32, 1, 2),
              "floating-point"),
  };
}

std::vector<OpCase> reshape() {
  const int64_t large = int64_t{1} << 40;
  return {
      {"known", To({3, 2}), {Given({2, 3}, {1, 2, 3, 4, 5, 6})}, {{1, 2, 3, 4, 5, 6}}},
      {"open size", To({2, -1, 2}), {Uniform({2, 3, 4})}},
      {"to a scalar", To({}), {Uniform({1, 1})}},
      {"from a scalar", To({1, -1}), {Uniform({})}},
      {"bytes", To({4}), {Integers({2, 2}, DType::kU8, 0, 255)}, {}, {}, false},
      Refused("elements differ", To({4, 2}), Uniform({2, 3}), "cannot reshape"),
      Refused("does not divide", To({4, -1}), Uniform({2, 3}), "cannot reshape"),
      Refused("two open sizes", To({-1, -1}), Uniform({2, 3}), "are -1"),
      Refused("size 0", To({0, -1}), Uniform({2, 3}), "cannot reshape"),
      Refused("too large", To({large, large}), Uniform({2, 3}), "cannot reshape"),
      Refused("batch in two places", To({kBatchDim, kBatchDim}), Uniform({kBatchDim, 3}),
              "cannot reshape"),
      Refused("batch is lost", To({3}), Uniform({kBatchDim, 3}), "cannot reshape"),
  };
}

std::vector<OpCase> flatten() {
  return {
      {"known", From(1), {Given({2, 1, 3}, {1, 2, 3, 4, 5, 6})}, {{1, 2, 3, 4, 5, 6}}},
      {"axis 0", From(0), {Uniform({2, 3})}},
      {"axis 2", From(2), {Uniform({2, 3, 4})}},
      {"last axis", From(-1), {Uniform({2, 3, 4})}},
      {"after the last axis", From(2), {Uniform({2, 3})}},
      {"vector", From(1), {Uniform({4})}},
      {"bytes", From(1), {Integers({2, 2}, DType::kU8, 0, 255)}, {}, {}, false},
      Refused("no such axis", From(3), Uniform({2, 3}), "axis 3 does not fit"),
      Refused("no such axis from the end", From(-3), Uniform({2, 3}), "axis -3 does not fit"),
  };
}

std::vector<OpCase> transpose() {
  return {
      {"known", Order({1, 0}), {Given({2, 3}, {1, 2, 3, 4, 5, 6})}, {{1, 4, 2, 5, 3, 6}}},
      {"bytes", Order({1, 0}), {Given({2, 2}, {1, 2, 3, 4}, DType::kU8)}, {{1, 3, 2, 4}}},
      {"known, rotation of axes",
       Order({2, 0, 1}),
       {Given({2, 1, 3}, {1, 2, 3, 4, 5, 6})},
       {{1, 4, 2, 5, 3, 6}}},
      {"reversed", Order({}), {Uniform({2, 3, 4})}},
      {"channels last", Order({0, 2, 3, 1}), {Uniform({2, 3, 4, 5})}},
      {"negative axes", Order({0, -1, -2}), {Uniform({2, 3, 4})}},
      {"nothing moves", Order({0, 1}), {Uniform({2, 3})}},
      {"scalar", Order({}), {Uniform({})}},
      Refused("too few axes", Order({1, 0}), Uniform({2, 3, 4}), "no order of the axes"),
      Refused("axis twice", Order({0, 0}), Uniform({2, 3}), "no order of the axes"),
      Refused("no such axis", Order({0, 2}), Uniform({2, 3}), "no order of the axes"),
  };
}

}  // namespace cgrun::op_cases
