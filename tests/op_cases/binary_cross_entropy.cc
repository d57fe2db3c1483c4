// Cases of binary_cross_entropy, from logits and from probabilities, and of its gradient. Known
// results: PyTorch's binary_cross_entropy_with_logits and binary_cross_entropy, and by hand.
#include <limits>

#include "src/ops/loss.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Cases = std::vector<OpCase>;

CaseInput Logits() { return Given({2, 3}, {0.5, -1, 2, 0, 3, -0.25}); }
CaseInput Probabilities() { return Given({2, 3}, {0.5, 0.125, 0.875, 0.25, 0.96875, 0x1p-20}); }
CaseInput Targets() { return Given({2, 3}, {1, 0, 1, 0, 0.25, 0.5}); }
CaseInput Answers(DType dtype) { return Given({2, 3}, {1, 0, 1, 0, 1, 0}, dtype); }

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

// Adds cases of one set of attributes.
template <class T>
void Append(Cases& cases, const std::string& prefix, const T& attributes, Cases more) {
  for (OpCase& one : more) {
    one.name = prefix + one.name;
    one.attributes = Attributes::Of(attributes);
    cases.push_back(std::move(one));
  }
}

Cases OfLogits() {
  return {
      {.name = "known", .inputs = {Logits(), Targets()}, .expected = {{0.767823439126}}},
      {.name = "integers",
       .inputs = {Logits(), Answers(DType::kI64)},
       .expected = {{0.371990109792}}},
      {.name = "bool", .inputs = {Logits(), Answers(DType::kBool)}, .expected = {{0.371990109792}}},
      {.name = "scalars",
       .inputs = {Given({}, {0}), Given({}, {1})},
       .expected = {{0.69314718056}},
       .gradient_inputs = {0}},
      {.name = "no overflow",
       .inputs = {Given({2}, {1000, -1000}), Given({2}, {0, 1}, DType::kU8)},
       .expected = {{1000}}},
      {.name = "random", .inputs = {Uniform({3, 4}, -4, 4), Uniform({3, 4}, 0, 1)}},
      {.name = "random integers",
       .inputs = {Uniform({3, 4}, -4, 4), Integers({3, 4}, DType::kI32, 0, 1)}},
      {.name = "random bools",
       .inputs = {Uniform({3, 4}, -4, 4), Integers({3, 4}, DType::kBool, 0, 1)}},
      {.name = "for two threads",
       .inputs = {Uniform({173, 211}, -4, 4), Integers({173, 211}, DType::kU8, 0, 1)},
       .check_gradient = false},  // each too small a part of the mean
      Extreme("sure and right", {Given({2}, {kInfinity, -kInfinity}), Given({2}, {1, 0})}, {0}),
      Extreme("sure and wrong", {Given({2}, {kInfinity, 0}), Given({2}, {0, 1})}, {kInfinity}),
      Extreme("NaN logit", {Given({2}, {kNaN, 0}), Given({2}, {0, 1})}, {kNaN}),
      Extreme("NaN target", {Given({2}, {1, 0}), Given({2}, {kNaN, 1})}, {kNaN}),
      Extreme("a target of 2", {Given({2}, {1, 0}), Given({2}, {2, 1}, DType::kI32)}, {kNaN}),
      Extreme("a target of -1", {Given({2}, {1, 0}), Given({2}, {-1, 1}, DType::kI64)}, {kNaN}),
      Refused("shapes differ", {Uniform({2, 1}), Uniform({2})}, "not f64[2, 1] and f64[2]"),
      Refused("another floating-point type", {Uniform({2, 1}), Given({2, 1}, {0, 1}, DType::kBF16)},
              "of its type or bool"),
      Refused("integer prediction", {Integers({2}, DType::kI32, 0, 1), Uniform({2})},
              "floating-point prediction"),
  };
}

Cases OfProbabilities() {
  return {
      {.name = "known",
       .inputs = {Probabilities(), Targets()},
       .expected = {{1.79776723706}},
       .check_gradient = false},  // at 2^-20 no finite differences
      // (2·ln 2 - ln 0.9)/3
      {.name = "integers",
       .inputs = {Given({3}, {0.5, 0.1, 0.5}), Given({3}, {1, 0, 1}, DType::kI32)},
       .expected = {{0.497218292259}}},
      {.name = "random", .inputs = {Uniform({3, 4}, 0.1, 0.9), Uniform({3, 4}, 0, 1)}},
      {.name = "random bools",
       .inputs = {Uniform({3, 4}, 0.1, 0.9), Integers({3, 4}, DType::kBool, 0, 1)}},
      Extreme("sure and right", {Given({2}, {0, 1}), Given({2}, {0, 1})}, {0}),
      Extreme("sure and wrong", {Given({4}, {0, 1, 1, 0}), Given({4}, {0, 1, 0, 1})}, {50}),
      Extreme("less than 0", {Given({2}, {-0.1, 0.5}), Given({2}, {1, 1})}, {kNaN}),
      Extreme("more than 1", {Given({2}, {1.5, 0.5}), Given({2}, {1, 1})}, {kNaN}),
      Extreme("NaN", {Given({2}, {kNaN, 0.5}), Given({2}, {1, 1})}, {kNaN}),
      Extreme("a target of 2", {Given({2}, {0.5, 0.5}), Given({2}, {2, 1}, DType::kI32)}, {kNaN}),
      Refused("shapes differ", {Uniform({2, 1}), Uniform({2})}, "not f64[2, 1] and f64[2]"),
  };
}

Cases GradOfLogits() {
  return {
      {.name = "known",
       .inputs = {Logits(), Targets(), Dloss(1)},
       .expected = {{-0.0629234447997, 0.0448235702283, -0.0198671536704, 0.0833333333333,
                     0.117095687804, -0.0103627501476}}},
      {.name = "integers, doubled",
       .inputs = {Logits(), Answers(DType::kI64), Dloss(2)},
       .expected = {{2 * -0.0629234447997, 2 * 0.0448235702283, 2 * -0.0198671536704,
                     2 * 0.0833333333333, 2 * -0.00790431219626, 2 * 0.0729705831857}}},
      {.name = "ends of the range",
       .inputs = {Given({4}, {kInfinity, -kInfinity, 1000, kNaN}), Given({4}, {1, 1, 0, 0}),
                  Dloss(4)},
       .expected = {{0, -1, 1, kNaN}}},
      {.name = "several vectors",
       .inputs = {Uniform({5, 67}, -9, 9), Uniform({5, 67}, 0, 1), Dloss(300)}},
      {.name = "a target of 2",
       .inputs = {Given({2}, {0, 0}), Given({2}, {2, 1}, DType::kU8), Dloss(2)},
       .expected = {{kNaN, -0.5}}},
      Refused("no scalar", {Uniform({2}), Uniform({2}), Uniform({2})}, "scalar"),
      Refused("shapes differ", {Uniform({2}), Uniform({3}), Uniform({})}, "of its shape"),
  };
}

Cases GradOfProbabilities() {
  return {
      {.name = "known",
       .inputs = {Given({2, 2}, {0.5, 0.125, 0.875, 0.96875}), Given({2, 2}, {1, 0, 1, 0.25}),
                  Dloss(4)},
       .expected = {{-2, 1.14285714286, -1.14285714286, 23.7419354839}}},
      {.name = "ends of the range",
       .inputs = {Given({4}, {0, 1, 1, 0}), Given({4}, {0, 1, 0, 1}), Dloss(4)},
       .expected = {{0, 0, 1e12, -1e12}}},
      {.name = "no probability",
       .inputs = {Given({3}, {-0.1, 1.1, kNaN}), Given({3}, {0, 1, 0}), Dloss(1)},
       .expected = {{kNaN, kNaN, kNaN}}},
  };
}

}  // namespace

std::vector<OpCase> binary_cross_entropy() {
  Cases cases;
  Append(cases, "logits, ", BinaryCrossEntropyAttributes{true}, OfLogits());
  Append(cases, "probabilities, ", BinaryCrossEntropyAttributes{false}, OfProbabilities());
  return cases;
}

std::vector<OpCase> binary_cross_entropy_grad() {
  using Grad = BinaryCrossEntropyGradAttributes;
  Cases cases;
  Append(cases, "logits, ", Grad{true, false}, GradOfLogits());
  Append(cases, "probabilities, ", Grad{false, false}, GradOfProbabilities());
  Append(cases, "target of logits, ", Grad{true, true},
         {{.name = "known",
           .inputs = {Logits(), Targets(), Dloss(6)},
           .expected = {{-0.5, 1, -2, -0.0, -3, 0.25}}},
          Refused("integers", {Logits(), Answers(DType::kI64), Dloss(1)}, "has no gradient")});
  Append(cases, "target of probabilities, ", Grad{false, true},
         {{.name = "known",
           .inputs = {Given({2, 2}, {0.125, 0.875, 0.25, 0.96875}), Given({2, 2}, {0, 1, 0, 0.25}),
                      Dloss(4)},
           .expected = {{1.94591014906, -1.94591014906, 1.09861228867, -3.43398720449}}},
          // The results are worked out by hand: a logarithm is -100 at least.
          {.name = "ends of the range",
           .inputs = {Given({2}, {0, 1}), Given({2}, {0, 1}), Dloss(2)},
           .expected = {{100, -100}}}});
  return cases;
}

}  // namespace cgrun::op_cases
