// Cases of the operators that only move data: identity, reorder, all_reduce, fused.
#include "src/ops/reorder.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {

std::vector<OpCase> identity() {
  return {{"random", {}, {Uniform({2, 3})}},
          {"bytes", {}, {Integers({7}, DType::kU8, 0, 255)}, {}, {}, false}};
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
