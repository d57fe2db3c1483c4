// Cases of softmax and its gradient. Known results: PyTorch.
#include "src/ops/softmax.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Axis(int64_t axis) { return Attributes::Of(SoftmaxAttributes{axis}); }

}  // namespace

std::vector<OpCase> softmax() {
  const CaseInput known = Given({2, 3}, {1, 2, 3, -1, 0, 100});
  return {
      {"rows", Axis(-1), {known}, {{0.0900305731704, 0.244728471055, 0.665240955775, 0, 0, 1}}},
      {"columns",
       Axis(0),
       {known},
       {{0.880797077978, 0.880797077978, 0, 0.119202922022, 0.119202922022, 1}}},
      {"no overflow", Axis(-1), {Given({1, 2}, {1000, 1000})}, {{0.5, 0.5}}},
      {"special values",
       Axis(1),
       {Given({4, 2}, {0, -kInfinity, 0, kNaN, 0, kInfinity, -kInfinity, -kInfinity})},
       {{1, 0, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN}},
       {},
       false},
      {"middle axis", Axis(1), {Uniform({2, 3, 4})}},
      {"first axis", Axis(0), {Uniform({3, 2, 2})}},
      {"axis of size 1", Axis(1), {Uniform({3, 1})}, {{1, 1, 1}}, {}, false},
      {"no such axis", Axis(2), {Uniform({2, 3})}, {}, {}, true, "axes [2]"},
      {"scalar", Axis(-1), {Uniform({})}, {}, {}, true, "do not fit []"},
      {"integers", Axis(-1), {Integers({4}, DType::kI32, 0, 3)}, {}, {}, true, "floating-point"},
  };
}

std::vector<OpCase> softmax_grad() {
  return {
      {"known",
       Axis(-1),
       {Given({1, 3}, {0.0900305731704, 0.244728471055, 0.665240955775}),
        Given({1, 3}, {1, -2, 0.5})},
       {{0.0960451458329, -0.473107638535, 0.377062492702}}},
      {"middle axis", Axis(1), {Uniform({2, 3, 4}), Uniform({2, 3, 4})}},
      {"shapes differ",
       Axis(-1),
       {Uniform({2, 3}), Uniform({2, 4})},
       {},
       {},
       true,
       "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
