// Cases of dropout. Known masks: Philox4x32-10 written out in Python.
#include "src/ops/dropout.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Training(double rate, int64_t key = 5) {
  return Attributes::Of(DropoutAttributes{rate, key, true});
}

Attributes Evaluation(double rate) { return Attributes::Of(DropoutAttributes{rate, 5, false}); }

CaseInput Ones() { return Given({2, 5}, std::vector<double>(10, 1)); }

constexpr double kKept = 1 / (1 - 0.4);

}  // namespace

std::vector<OpCase> dropout() {
  return {
      {"known, step 3",
       Training(0.4),
       {Ones(), Step(3)},
       {{0, 0, kKept, 0, 0, kKept, 0, kKept, 0, kKept}}},
      {"known, step 4",
       Training(0.4),
       {Ones(), Step(4)},
       {{kKept, 0, 0, kKept, kKept, kKept, kKept, 0, 0, kKept}}},
      {"rate 0", Training(0), {Given({3}, {1, -2, 3}), Step(0)}, {{1, -2, 3}}},
      {"NaN is dropped too",
       Training(0.4),
       {Given({3}, {kNaN, 1, kNaN}), Step(3)},
       {{0, 0, kNaN}},
       {},
       false},
      {"numbers, step 3",
       Training(0.4),
       {Given({2, 5}, {1, 2, 3, 4, 5, -6, 7, 8, 9, -10}), Step(3)},
       {{0, 0, 3 * kKept, 0, 0, -6 * kKept, 0, 8 * kKept, 0, -10 * kKept}}},
      {"random", Training(0.3), {Uniform({3, 4, 5}), Step(1)}},
      {"evaluation", Evaluation(0.4), {Given({2, 2}, {1, -2, 3, 4})}, {{1, -2, 3, 4}}},
      {"evaluation with a step", Evaluation(0.4), {Uniform({2, 3}), Step(2)}},
      {"without a step", Training(0.4), {Uniform({2})}, {}, {}, true, "step counter"},
      {"step of another type", Training(0.4), {Uniform({2}), Uniform({})}, {}, {}, true, "int64"},
      {"rate 1", Training(1), {Uniform({2}), Step(0)}, {}, {}, true, "less than 1"},
      {"rate below 0", Training(-0.1), {Uniform({2}), Step(0)}, {}, {}, true, "at least 0"},
      {"integers",
       Training(0.4),
       {Integers({2}, DType::kI32, 0, 3), Step(0)},
       {},
       {},
       true,
       "floating-point"},
  };
}

}  // namespace cgrun::op_cases
