// Cases of fill, clip and its gradient. Known results: PyTorch's clamp, of bounds its hardtanh.
#include "src/ops/clip.h"

#include <limits>

#include "src/ops/fill.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Within(double min, double max) { return Attributes::Of(ClipAttributes{min, max}); }

}  // namespace

std::vector<OpCase> fill() {
  return {
      {.name = "not of what x holds",
       .attributes = Attributes::Of(FillAttributes{2.5}),
       .inputs = {Given({2, 2}, {1, kNaN, -kInfinity, 0})},
       .expected = {{2.5, 2.5, 2.5, 2.5}}},
      {.name = "zero of a scalar",
       .attributes = Attributes::Of(FillAttributes()),
       .inputs = {Uniform({})},
       .expected = {{0}}},
      {.name = "integers",
       .attributes = Attributes::Of(FillAttributes()),
       .inputs = {Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point"},
  };
}

std::vector<OpCase> clip() {
  const CaseInput known = Given({8}, {-3, -1, -0.0, 1, 2, kNaN, kInfinity, -kInfinity});
  return {
      {.name = "known",
       .attributes = Within(-1, 1),
       .inputs = {known},
       .expected = {{-1, -1, -0.0, 1, 1, kNaN, 1, -1}},
       .check_gradient = false},
      {.name = "no upper bound",
       .attributes = Within(0, kInfinity),
       .inputs = {known},
       .expected = {{0, 0, -0.0, 1, 2, kNaN, kInfinity, 0}},
       .check_gradient = false},
      {.name = "no bound",
       .attributes = Within(-kInfinity, kInfinity),
       .inputs = {known},
       .expected = {{-3, -1, -0.0, 1, 2, kNaN, kInfinity, -kInfinity}},
       .check_gradient = false},
      {.name = "random", .attributes = Within(-0.75, 1.1), .inputs = {Uniform({3, 4, 5})}},
      {.name = "several vectors", .attributes = Within(-0.75, 1.1), .inputs = {Uniform({5, 67})}},
      {.name = "random without a bound",
       .attributes = Attributes::Of(ClipAttributes()),
       .inputs = {Uniform({3, 4})}},
      {.name = "random above", .attributes = Within(0.1, kInfinity), .inputs = {Uniform({3, 4})}},
      {.name = "equal bounds",
       .attributes = Within(0.5, 0.5),
       .inputs = {Uniform({3})},
       .expected = {{0.5, 0.5, 0.5}},
       .check_gradient = false},
      {.name = "bounds exchanged",
       .attributes = Within(1, -0.5),
       .inputs = {Uniform({3})},
       .error = "`min` 1 is more than `max` -0.5"},
      {.name = "bound is no number",
       .attributes = Within(kNaN, 1),
       .inputs = {Uniform({3})},
       .error = "`min` must be a number"},
      {.name = "integers",
       .attributes = Within(0, 1),
       .inputs = {Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point"},
  };
}

std::vector<OpCase> clip_grad() {
  return {
      // 0.1 is rounded in the same way as an output that it bounds.
      {.name = "none at a bound",
       .attributes = Within(0.1, 1),
       .inputs = {Given({4}, {0.1, 0.5, 1, kNaN}), Given({4}, {5, 6, 7, 8})},
       .expected = {{0, 6, 0, 0}}},
      {.name = "infinity where there is no bound",
       .attributes = Within(-kInfinity, 3),
       .inputs = {Given({4}, {-kInfinity, 3, kNaN, 0}), Given({4}, {5, 6, 7, -0.0})},
       .expected = {{5, 0, 0, -0.0}}},
      {.name = "shapes differ",
       .attributes = Within(0, 1),
       .inputs = {Uniform({3}), Uniform({4})},
       .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
