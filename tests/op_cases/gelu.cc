// Cases of gelu and its gradient. Known results: PyTorch; at infinities, where PyTorch has NaN, the
// limits.
#include "src/ops/gelu.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes By(std::string approximate) {
  return Attributes::Of(GeluAttributes{std::move(approximate)});
}

CaseInput Known() { return Given({5}, {-3, -1, -0.0, 0.5, 2}); }
CaseInput KnownGradient() { return Given({5}, {1, -2, 3, 0.5, 1}); }
CaseInput Ends() { return Given({6}, {kInfinity, -kInfinity, kNaN, -60, 1e30, -1e30}); }

}  // namespace

std::vector<OpCase> gelu() {
  const std::vector<std::vector<double>> ends = {{kInfinity, -0.0, kNaN, -0.0, 1e30, -0.0}};
  return {
      {.name = "exact",
       .attributes = By("none"),
       .inputs = {Known()},
       .expected = {{-0.00404969409489, -0.158655253931, -0.0, 0.345731230637, 1.9544997361}}},
      {.name = "tanh",
       .attributes = By("tanh"),
       .inputs = {Known()},
       .expected = {{-0.00363739208177, -0.158808009392, -0.0, 0.345714009825, 1.95459769409}}},
      {.name = "exact ends",
       .attributes = By("none"),
       .inputs = {Ends()},
       .expected = ends,
       .check_gradient = false},
      {.name = "tanh ends",
       .attributes = By("tanh"),
       .inputs = {Ends()},
       .expected = ends,
       .check_gradient = false},
      {.name = "exact random", .attributes = By("none"), .inputs = {Uniform({3, 4, 5}, -5, 5)}},
      {.name = "tanh random", .attributes = By("tanh"), .inputs = {Uniform({3, 4, 5}, -5, 5)}},
      {.name = "exact, several vectors",
       .attributes = By("none"),
       .inputs = {Uniform({5, 67}, -14, 14)}},
      {.name = "tanh, several vectors",
       .attributes = By("tanh"),
       .inputs = {Uniform({5, 67}, -14, 14)}},
      {.name = "no such formula",
       .attributes = By("sigmoid"),
       .inputs = {Uniform({3})},
       .error = "`approximate` must be one of none, tanh"},
      {.name = "integers",
       .attributes = By("none"),
       .inputs = {Integers({4}, DType::kI32, 0, 3)},
       .error = "floating-point"},
  };
}

std::vector<OpCase> gelu_grad() {
  const CaseInput dy = Given({6}, {2, 3, 1, 5, -7, 4});
  return {
      {.name = "exact",
       .attributes = By("none"),
       .inputs = {Known(), KnownGradient()},
       .expected = {{-0.0119456472042, 0.166630941175, 1.5, 0.433747562328, 1.08523180108}}},
      {.name = "tanh",
       .attributes = By("tanh"),
       .inputs = {Known(), KnownGradient()},
       .expected = {{-0.011584166631, 0.165928167692, 1.5, 0.433684951767, 1.08609925662}}},
      {.name = "exact ends",
       .attributes = By("none"),
       .inputs = {Ends(), dy},
       .expected = {{2, 0, kNaN, 0, -7, 0}}},
      {.name = "tanh ends",
       .attributes = By("tanh"),
       .inputs = {Ends(), dy},
       .expected = {{2, 0, kNaN, 0, -7, 0}}},
      {.name = "exact, several vectors",
       .attributes = By("none"),
       .inputs = {Uniform({335}, -14, 14), Uniform({335})}},
      {.name = "tanh, for two threads",
       .attributes = By("tanh"),
       .inputs = {Uniform({12001}, -14, 14), Uniform({12001})}},
      {.name = "shapes differ",
       .attributes = By("none"),
       .inputs = {Uniform({3}), Uniform({4})},
       .error = "inputs differ"},
  };
}

}  // namespace cgrun::op_cases
