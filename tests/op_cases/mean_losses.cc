// Cases of absolute_error and hinge. Known results: PyTorch's l1_loss, and by hand.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// This is the gradient of the loss.
CaseInput Dloss(double gradient) { return AtLeastF32(Given({}, {gradient})); }

// Nothing but a known result: no finite differences where the loss or a slope is not finite.
OpCase Extreme(std::string name, std::vector<CaseInput> inputs, std::vector<double> expected) {
  return {.name = std::move(name),
          .inputs = std::move(inputs),
          .expected = {std::move(expected)},
          .check_gradient = false};
}

OpCase Refused(std::string name, std::vector<CaseInput> inputs, std::string error) {
  return {.name = std::move(name), .inputs = std::move(inputs), .error = std::move(error)};
}

std::vector<OpCase> RefusedTargets() {
  const CaseInput x = Uniform({2, 1});
  return {
      Refused("shapes differ", {x, Uniform({2})}, "not f64[2, 1] and f64[2]"),
      Refused("another floating-point type", {x, Given({2, 1}, {0, 1}, DType::kBF16)},
              "of its type or bool"),
      Refused("integer prediction", {Integers({2}, DType::kI32, 0, 1), Uniform({2})},
              "floating-point prediction"),
  };
}

void Append(std::vector<OpCase>& cases, std::vector<OpCase> more) {
  for (OpCase& one : more) cases.push_back(std::move(one));
}

}  // namespace

std::vector<OpCase> absolute_error() {
  return {
      {.name = "known",
       .inputs = {Given({2, 2}, {1, 2, 3, 4}), Given({2, 2}, {0.5, 2, 1, 7})},
       .expected = {{1.375}}},
      {.name = "scalars", .inputs = {Given({}, {3}), Given({}, {5})}, .expected = {{2}}},
      {.name = "random", .inputs = {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      Extreme("NaN", {Given({2}, {1, kNaN}), Given({2}, {1, 1})}, {kNaN}),
      Extreme("infinity", {Given({2}, {1, -kInfinity}), Given({2}, {1, 1})}, {kInfinity}),
      Refused("shapes differ", {Uniform({2, 1}), Uniform({2})}, "[2, 1] and f64[2]"),
      Refused("target of another type", {Uniform({2}), Integers({2}, DType::kI32, 0, 3)},
              "of one floating-point type"),
  };
}

std::vector<OpCase> absolute_error_grad() {
  return {
      {.name = "known",
       .inputs = {Given({2, 2}, {1, 2, 3, 4}), Given({2, 2}, {0.5, 2, 1, 7}), Dloss(1)},
       .expected = {{0.25, 0, 0.25, -0.25}}},
      {.name = "ends of the range",
       .inputs = {Given({3}, {kInfinity, kNaN, kInfinity}), Given({3}, {1, 1, kInfinity}),
                  Dloss(3)},
       .expected = {{1, kNaN, kNaN}}},
      Refused("no scalar", {Uniform({2}), Uniform({2}), Uniform({2})}, "scalar"),
  };
}

std::vector<OpCase> hinge() {
  const CaseInput x = Given({2, 3}, {0.5, -1, 2, 0.25, 3, -0.25});
  std::vector<OpCase> cases = {
      // The missing parts of the margin are 0.5, 0, 0, 1.25, 4 and 1.25.
      {.name = "known",
       .inputs = {x, Given({2, 3}, {1, -1, 1, -1, -1, 1})},
       .expected = {{7.0 / 6}},
       .gradient_inputs = {0}},
      {.name = "0 and 1",
       .inputs = {x, Given({2, 3}, {1, 0, 1, 0, 0, 1}, DType::kU8)},
       .expected = {{7.0 / 6}}},
      {.name = "bool",
       .inputs = {x, Given({2, 3}, {1, 0, 1, 0, 0, 1}, DType::kBool)},
       .expected = {{7.0 / 6}}},
      {.name = "-1 and 1",
       .inputs = {x, Given({2, 3}, {1, -1, 1, -1, -1, 1}, DType::kI64)},
       .expected = {{7.0 / 6}}},
      {.name = "scalars",
       .inputs = {Given({}, {-3}), Given({}, {1}, DType::kI32)},
       .expected = {{4}}},
      {.name = "random", .inputs = {Uniform({3, 4}), Uniform({3, 4})}, .gradient_inputs = {0}},
      {.name = "several vectors",
       .inputs = {Uniform({5, 67}), Integers({5, 67}, DType::kI64, -1, 1)},
       .check_gradient = false},  // kinks
      {.name = "random integers", .inputs = {Uniform({3, 4}), Integers({3, 4}, DType::kI32, 0, 1)}},
      Extreme("sure and right", {Given({2}, {kInfinity, -kInfinity}), Given({2}, {1, -1})}, {0}),
      Extreme("sure and wrong", {Given({2}, {kInfinity, 1}), Given({2}, {-1, 1})}, {kInfinity}),
      Extreme("NaN score", {Given({2}, {kNaN, 1}), Given({2}, {-1, 1})}, {kNaN}),
      Extreme("NaN target", {Given({2}, {1, 1}), Given({2}, {kNaN, 1})}, {kNaN}),
  };
  Append(cases, RefusedTargets());
  return cases;
}

std::vector<OpCase> hinge_grad() {
  return {
      // Right by more than the margin, at it, within it, and wrong.
      {.name = "known",
       .inputs = {Given({4}, {2, 1, 0.5, 0.5}), Given({4}, {1, 1, 1, -1}), Dloss(2)},
       .expected = {{0, 0, -0.5, 0.5}}},
      {.name = "bool",
       .inputs = {Given({2}, {0, 0}), Given({2}, {1, 0}, DType::kBool), Dloss(1)},
       .expected = {{-0.5, 0.5}}},
      {.name = "ends of the range",
       .inputs = {Given({4}, {kInfinity, -kInfinity, kNaN, 1}), Given({4}, {1, 1, 1, kNaN}),
                  Dloss(4)},
       .expected = {{0, -1, kNaN, kNaN}}},
      Refused("no scalar", {Uniform({2}), Uniform({2}), Uniform({2})}, "scalar"),
  };
}

}  // namespace cgrun::op_cases
