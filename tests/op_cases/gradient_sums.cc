// The cases of accumulate and norm_scale are worked by hand, but for the norms of PyTorch.
#include <limits>

#include "src/ops/norm_scale.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

CaseInput Factors(bool goes_on, double weight) {
  CaseInput input = Fixed({2}, DType::kF64, 0, 1);
  input.values = {goes_on ? 1.0 : 0.0, weight};
  return input;
}

Attributes Norm(double norm) { return Attributes::Of(NormScaleAttributes{norm}); }

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

OpCase Refused(std::string name, std::vector<CaseInput> inputs, std::string error,
               Attributes attributes = {}) {
  OpCase refused;
  refused.name = std::move(name);
  refused.attributes = std::move(attributes);
  refused.inputs = std::move(inputs);
  refused.error = std::move(error);
  return refused;
}

}  // namespace

std::vector<OpCase> accumulate() {
  const CaseInput sum = Given({3}, {1, -2, 4}), gradient = Given({3}, {8, 16, -4});
  return {
      {"begins", {}, {sum, gradient, Factors(false, 0.25)}, {{2, 4, -1}}},
      {"goes on", {}, {sum, gradient, Factors(true, 0.25)}, {{3, 2, 3}}},
      {"a sum that is not finite is forgotten",
       {},
       {Given({2}, {kNan, kInfinity}), Given({2}, {1, 2}), Factors(false, 1)},
       {{1, 2}}},
      {"a gradient that is not finite stays",
       {},
       {Given({2}, {1, 1}), Given({2}, {kNan, kInfinity}), Factors(true, 1)},
       {{kNan, kInfinity}}},
      {"several vectors", {}, {Uniform({5, 67}), Uniform({5, 67}), Factors(true, 0.3)}},
      {"for two threads", {}, {Uniform({90000}), Uniform({90000}), Factors(true, 0.3)}},
      Refused("another shape", {sum, Uniform({2}), Factors(true, 1)}, "cannot add"),
      Refused("one factor", {sum, gradient, Fixed({1}, DType::kF64, 0, 1)}, "needs factors f64[2]"),
  };
}

std::vector<OpCase> norm_scale() {
  const CaseInput a = Given({2}, {3, 4}), b = Given({1, 3}, {12, 0, 0});
  return {
      {"one tensor", Norm(1), {a}, {{0.19999996}}},
      {"several", Norm(6.5), {a, b}, {{0.499999961538}}},
      {"within the norm", Norm(13.1), {a, b}, {{1}}},
      {"zeros", Norm(1e-3), {Given({9}, std::vector<double>(9, 0))}, {{1}}},
      {"a NaN", Norm(1), {a, Given({1}, {kNan})}, {{kNan}}},
      {"infinity", Norm(1), {a, Given({1}, {kInfinity})}, {{0}}},
      {"several rounds of eight", Norm(2), {Uniform({11, 7}), Uniform({30}), Uniform({})}},
      {"for two threads", Norm(2), {Uniform({120001}), Uniform({19}), Uniform({40001})}},
      Refused("integers", {a, Integers({2}, DType::kI32, 0, 1)}, "one floating-point type",
              Norm(1)),
  };
}

}  // namespace cgrun::op_cases
