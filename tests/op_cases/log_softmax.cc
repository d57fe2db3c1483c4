// Cases of log_softmax and its gradient. Known results: PyTorch.
#include <limits>

#include "src/ops/softmax.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Axis(int64_t axis) { return Attributes::Of(SoftmaxAttributes{axis}); }

}  // namespace

std::vector<OpCase> log_softmax() {
  const CaseInput known = Given({2, 3}, {1, 2, 3, -1, 0, 100});
  return {
      {.name = "rows",
       .attributes = Axis(-1),
       .inputs = {known},
       .expected = {{-2.40760596444, -1.40760596444, -0.407605964444, -101, -100, 0}}},
      {.name = "columns",
       .attributes = Axis(0),
       .inputs = {known},
       .expected = {{-0.126928011043, -0.126928011043, -97, -2.12692801104, -2.12692801104, 0}}},
      {.name = "no overflow",
       .attributes = Axis(-1),
       .inputs = {Given({2, 2}, {1e6, 1e6, 0, -1e6})},
       .expected = {{-0.69314718056, -0.69314718056, 0, -1e6}}},
      {.name = "special values",
       .attributes = Axis(1),
       .inputs = {Given({4, 2}, {0, -kInfinity, 0, kNaN, 0, kInfinity, -kInfinity, -kInfinity})},
       .expected = {{0, -kInfinity, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN}},
       .check_gradient = false},
      {.name = "middle axis", .attributes = Axis(1), .inputs = {Uniform({2, 3, 4})}},
      {.name = "first axis", .attributes = Axis(0), .inputs = {Uniform({3, 2, 2})}},
      {.name = "large rows", .attributes = Axis(1), .inputs = {Uniform({3, 1003}, -20, 20)}},
      {.name = "large columns", .attributes = Axis(0), .inputs = {Uniform({203, 19}, -20, 20)}},
      {.name = "axis of size 1",
       .attributes = Axis(1),
       .inputs = {Uniform({3, 1})},
       .expected = {{0, 0, 0}},
       .check_gradient = false},
      {.name = "no such axis",
       .attributes = Axis(2),
       .inputs = {Uniform({2, 3})},
       .error = "axes [2]"},
      {.name = "integers",
       .attributes = Axis(-1),
       .inputs = {Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point"},
  };
}

std::vector<OpCase> log_softmax_grad() {
  return {
      {.name = "known",
       .attributes = Axis(-1),
       .inputs = {Given({2, 3}, {-2.40760596444, -1.40760596444, -0.407605964444, -101, -100, 0}),
                  Given({2, 3}, {1, -2, 0.5, 1, 1, -1})},
       .expected = {{1.04501528659, -1.87763576447, 0.832620477887, 1, 1, -2}}},
      {.name = "an impossible class",
       .attributes = Axis(0),
       .inputs = {Given({2}, {0, -kInfinity}), Given({2}, {3, 5})},
       .expected = {{-5, 5}}},
      {.name = "middle axis",
       .attributes = Axis(1),
       .inputs = {Uniform({2, 3, 4}), Uniform({2, 3, 4})}},
      {.name = "large rows",
       .attributes = Axis(1),
       .inputs = {Uniform({13, 1003}, -9, 0), Uniform({13, 1003})}},
      {.name = "shapes differ",
       .attributes = Axis(-1),
       .inputs = {Uniform({2, 3}), Uniform({2, 4})},
       .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
