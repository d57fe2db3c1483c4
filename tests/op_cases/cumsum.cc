// Cases of cumsum. Known results: by hand.
#include "src/ops/cumsum.h"

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Sums(int64_t axis, bool exclusive = false, bool reverse = false) {
  return Attributes::Of(CumsumAttributes{axis, exclusive, reverse});
}

CaseInput Table() { return Given({2, 3}, {1, 2, 3, 4, 5, 6}); }

}  // namespace

std::vector<OpCase> cumsum() {
  return {
      {"rows", Sums(1), {Table()}, {{1, 3, 6, 4, 9, 15}}},
      {"exclusive", Sums(-1, true), {Table()}, {{0, 1, 3, 0, 4, 9}}},
      {"reverse", Sums(1, false, true), {Table()}, {{6, 5, 3, 15, 11, 6}}},
      {"exclusive and reverse", Sums(1, true, true), {Table()}, {{5, 3, 0, 11, 6, 0}}},
      {"columns", Sums(0), {Table()}, {{1, 2, 3, 5, 7, 9}}},
      {"integers",
       Sums(0),
       {Given({3}, {2147483647, 1, 5}, DType::kI32)},
       {{2147483647, -2147483648.0, -2147483643.0}}},
      {"bytes", Sums(0, true), {Given({3}, {200, 100, 1}, DType::kU8)}, {{0, 200, 44}}},
      {"middle axis", Sums(1), {Uniform({2, 5, 3})}},
      {"middle axis, exclusive and reverse", Sums(1, true, true), {Uniform({2, 5, 3})}},
      Refused("no such axis", Sums(2), {Uniform({2, 3})}, "axes [2]"),
      Refused("batch axis", Sums(0), {Uniform({kBatchDim, 3})}, "the batch axis"),
      Refused("bools", Sums(0), {Integers({3}, DType::kBool, 0, 1)}, "floats or integers"),
  };
}

}  // namespace cgrun::op_cases
