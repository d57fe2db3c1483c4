// Cases of leaky_relu, sigmoid, tanh and their gradients. Known results: PyTorch, and by hand.
#include <limits>

#include "src/ops/leaky_relu.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Slope(double slope) { return Attributes::Of(LeakyReluAttributes{slope}); }

OpCase Integral(Attributes attributes = {}) {
  return {"integers", std::move(attributes), {Integers({4}, DType::kI32, 0, 3)}, {}, {},
          true,       "floating-point"};
}

OpCase ShapesDiffer(Attributes attributes = {}) {
  return {"shapes differ", std::move(attributes), {Uniform({3}), Uniform({4})}, {}, {}, true,
          "inputs differ"};
}

}  // namespace

std::vector<OpCase> leaky_relu() {
  return {
      {"known", Slope(0.1), {Given({5}, {-2, -0.5, 0, 1, 3})}, {{-0.2, -0.05, 0, 1, 3}}, {}, false},
      {"special values",
       Slope(0.5),
       {Given({4}, {-kInfinity, kInfinity, kNaN, -0.0})},
       {{-kInfinity, kInfinity, kNaN, -0.0}},
       {},
       false},
      {"default slope", Slope(0.01), {Uniform({3, 4, 5})}},
      {"slope 0", Slope(0), {Uniform({3, 4})}},
      {"negative slope", Slope(-0.5), {Uniform({3, 4})}},
      {"slope above 1", Slope(2), {Uniform({3, 4})}},
      {"slope is no number", Slope(kNaN), {Uniform({3})}, {}, {}, true, "`slope` must be a number"},
      Integral(Slope(0.01)),
  };
}

std::vector<OpCase> leaky_relu_grad() {
  return {
      {"signs",
       Slope(0.1),
       {Given({3}, {-1, 0, 3}), Given({3}, {5, 6, -7})},
       {{0.5, 0.6, -7}},
       {},
       false},
      {.name = "random",
       .attributes = Slope(0.1),
       .inputs = {Uniform({3, 4}), Uniform({3, 4})},
       .gradient_inputs = {1}},
      ShapesDiffer(Slope(0.1)),
  };
}

std::vector<OpCase> sigmoid() {
  return {
      {"known",
       {},
       {Given({5}, {-2, -0.5, 0, 1, 3})},
       {{0.119202922022, 0.377540668798, 0.5, 0.73105857863, 0.952574126822}}},
      {"no overflow",
       {},
       {Given({6}, {-800, 800, -30, kInfinity, -kInfinity, kNaN})},
       {{0, 1, 9.35762296884e-14, 1, 0, kNaN}},
       {},
       false},
      {"random", {}, {Uniform({3, 4, 5})}},
      Integral(),
  };
}

std::vector<OpCase> sigmoid_grad() {
  return {
      {"known", {}, {Given({3}, {0.5, 0.25, 1}), Given({3}, {4, -1, 7})}, {{1, -0.1875, 0}}},
      ShapesDiffer(),
  };
}

std::vector<OpCase> tanh() {
  return {
      {"known",
       {},
       {Given({5}, {-2, -0.5, 0, 1, 3})},
       {{-0.964027580076, -0.46211715726, 0, 0.761594155956, 0.995054753687}}},
      {"special values",
       {},
       {Given({4}, {kInfinity, -kInfinity, kNaN, -0.0})},
       {{1, -1, kNaN, -0.0}},
       {},
       false},
      {"random", {}, {Uniform({3, 4, 5})}},
      Integral(),
  };
}

std::vector<OpCase> tanh_grad() {
  return {
      {"known", {}, {Given({3}, {0.5, 0, -1}), Given({3}, {4, -1, 7})}, {{3, -1, 0}}},
      ShapesDiffer(),
  };
}

}  // namespace cgrun::op_cases
