// Cases of the operators that only move data: identity, parameter, reorder, all_reduce, fused.
#include "src/ops/parameter.h"
#include "src/ops/reorder.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

std::vector<OpCase> identity() {
  return {{"random", {}, {Uniform({2, 3})}},
          {"bytes", {}, {Integers({7}, DType::kU8, 0, 255)}, {}, {}, false}};
}

std::vector<OpCase> parameter() {
  const auto of = [](IntList shape, DType type = DType::kF32) {
    return Attributes::Of(ParameterAttributes{std::move(shape), type});
  };
  const int64_t large = int64_t{1} << 40;
  return {
      {"known", of({2, 2}), {Given({2, 2}, {1, 2, 3, 4})}, {{1, 2, 3, 4}}},
      {"scalar", of({}), {Uniform({})}},
      {"integers", of({3}, DType::kI64), {Integers({3}, DType::kI64, -5, 5)}, {}, {}, false},
      Refused("another shape", of({2, 3}), {Uniform({3, 2})}, "`value` must be"),
      Refused("too large", of({large, large}), {Uniform({2})}, "too large"),
      Refused("size 0", of({0}), {Uniform({2})}, "`shape` must be at least 1"),
      Refused("without the tensor", of({2}), {}, "takes 1 input, not 0"),
  };
}

std::vector<OpCase> reorder() {
  return {
      // Layouts other than plain do not go through type inference: tests/kernels/reorder_test.cc.
      {"plain", Attributes::Of(ReorderAttributes()), {Uniform({2, 3, 4})}, {}, {}, false},
      {"not a layout",
       Attributes::Of(ReorderAttributes{"plain", "aBc?"}),
       {Uniform({1, 2, 3})},
       {},
       {},
       true,
       "is not a layout"},
  };
}

std::vector<OpCase> all_reduce() { return {{"one process", {}, {Uniform({4, 3})}, {}, {}, false}}; }

// Fused nodes have no types of their own: tests/kernels/fused_test.cc runs them with their bodies.
std::vector<OpCase> fused() {
  return {{"made by the compiler alone", {}, {Uniform({2})}, {}, {}, true, "compiler alone"}};
}

}  // namespace cgrun::op_cases
