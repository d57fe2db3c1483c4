#include "src/ops/linear.h"

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

Attributes Units(int64_t units, bool bias = true) {
  return Attributes::Of(LinearAttributes{units, bias});
}

}  // namespace

std::vector<OpCase> linear() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  const CaseInput weight = Given({2, 3}, {1, 0, -1, 2, 1, 0.5});
  const CaseInput bias = Given({2}, {10, -1});
  return {
      // The results are worked out by hand.
      {"known", Units(2), {x, weight, bias}, {{8, 4.5, 8, 15}}},
      {"known, no bias", Units(2, false), {x, weight}, {{-2, 5.5, -2, 16}}},
      {"one feature, one unit", Units(1), {Uniform({1, 1}), Uniform({1, 1}), Uniform({1})}},
      {"many rows and units", Units(11), {Uniform({6, 5}), Uniform({11, 5}), Uniform({11})}},
      {"three axes", Units(3), {Uniform({2, 3, 4}), Uniform({3, 4}), Uniform({3})}},
      {"four axes, no bias", Units(2, false), {Uniform({2, 1, 3, 4}), Uniform({2, 4})}},
      Refused("vector", Units(2), {Uniform({3}), Uniform({2, 3}), Uniform({2})}, "features"),
      Refused("features depend on the batch", Units(2, false),
              {Uniform({3, kBatchDim}), Uniform({2, kBatchDim})}, "features"),
      Refused("weight is transposed", Units(2), {Uniform({4, 3}), Uniform({3, 2}), Uniform({2})},
              "`weight` must be f64[2, 3] for an input f64[4, 3], not f64[3, 2]"),
      Refused("bias is too long", Units(2), {Uniform({4, 3}), Uniform({2, 3}), Uniform({3})},
              "`bias` must be f64[2]"),
      Refused("no bias given", Units(2), {Uniform({4, 3}), Uniform({2, 3})}, "and bias"),
      Refused("a bias too many", Units(2, false), {Uniform({4, 3}), Uniform({2, 3}), Uniform({2})},
              "not 3 inputs"),
      Refused("weight of another type", Units(2, false),
              {Uniform({4, 3}), Given({2, 3}, {}, DType::kF32)}, "f32[2, 3]"),
      Refused("integers", Units(2), {Integers({4, 3}, DType::kU8, 0, 9)}, "takes 2 to 3 inputs"),
      Refused("integers with a weight", Units(2, false),
              {Integers({4, 3}, DType::kU8, 0, 9), Uniform({2, 3})}, "floating-point"),
  };
}

}  // namespace cgrun::op_cases
