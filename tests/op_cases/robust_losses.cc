// Cases of huber, smooth_l1, ranking and their gradients. Known results: PyTorch's huber_loss,
// smooth_l1_loss and margin_ranking_loss, and by hand.
#include <limits>

#include "src/ops/loss.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput Dloss(double gradient) { return AtLeastF32(Given({}, {gradient})); }
CaseInput Prediction() { return Given({6}, {1, 2, 3, 4, -1.5, 0.25}); }
CaseInput Target() { return Given({6}, {0.5, 2, 1, 7, -1, 1.25}); }
CaseInput A() { return Given({4}, {0.5, -1, 2, 0.25}); }
CaseInput B() { return Given({4}, {1, -2, 1.75, -1}); }

Attributes Delta(double delta) { return Attributes::Of(HuberAttributes{delta}); }
Attributes Beta(double beta) { return Attributes::Of(SmoothL1Attributes{beta}); }
Attributes Slope(double delta, double scale) {
  return Attributes::Of(HuberGradAttributes{delta, scale});
}
Attributes Margin(double margin) { return Attributes::Of(RankingAttributes{margin}); }

OpCase Extreme(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
               double expected) {
  return {.name = std::move(name),
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .expected = {{expected}},
          .check_gradient = false};
}

}  // namespace

std::vector<OpCase> huber() {
  return {
      {"known", Delta(1), {Prediction(), Target()}, {{0.791666666667}}},
      {"narrow", Delta(0.4), {Prediction(), Target()}, {{0.4}}},
      {"wide", Delta(2), {Prediction(), Target()}, {{1.125}}},
      {"random", Delta(0.7), {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      {.name = "for two threads",
       .attributes = Delta(0.7),
       .inputs = {Uniform({72001}), Uniform({72001})},
       .check_gradient = false},  // each too small a part of the mean
      Extreme("NaN", Delta(1), {Given({2}, {1, kNaN}), Given({2}, {1, 1})}, kNaN),
      Extreme("infinity", Delta(1), {Given({2}, {1, kInfinity}), Given({2}, {1, 1})}, kInfinity),
      Refused("delta 0", Delta(0), {Uniform({2}), Uniform({2})}, "must be more than 0"),
      Refused("shapes differ", Delta(1), {Uniform({2, 1}), Uniform({2})}, "[2, 1] and f64[2]"),
  };
}

std::vector<OpCase> smooth_l1() {
  return {
      {"known", Beta(1), {Prediction(), Target()}, {{0.791666666667}}},
      {"narrow", Beta(0.4), {Prediction(), Target()}, {{1.0}}},
      {"wide", Beta(2), {Prediction(), Target()}, {{0.5625}}},
      {"random", Beta(0.7), {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      Refused("beta 0", Beta(0), {Uniform({2}), Uniform({2})}, "must be more than 0"),
      Refused("target of another type", Beta(1), {Uniform({2}), Integers({2}, DType::kI32, 0, 3)},
              "of one floating-point type"),
  };
}

std::vector<OpCase> huber_grad() {
  const double sixth = 1.0 / 6, third = 1.0 / 3, twelfth = 1.0 / 12;
  return {
      {"huber",
       Slope(2, 1),
       {Prediction(), Target(), Dloss(1)},
       {{twelfth, 0, third, -third, -twelfth, -sixth}}},
      {"smooth_l1, doubled",
       Slope(2, 0.5),
       {Prediction(), Target(), Dloss(2)},
       {{twelfth, 0, third, -third, -twelfth, -sixth}}},
      {"several vectors", Slope(0.7, 3), {Uniform({5, 67}), Uniform({5, 67}), Dloss(300)}},
      {"ends of the range",
       Slope(1, 1),
       {Given({3}, {kInfinity, kNaN, -kInfinity}), Given({3}, {1, 1, 1}), Dloss(3)},
       {{1, kNaN, -1}}},
      Refused("no scalar", Slope(1, 1), {Uniform({2}), Uniform({2}), Uniform({2})}, "scalar"),
  };
}

std::vector<OpCase> ranking() {
  const CaseInput a = A(), b = B();
  return {
      {"known", Margin(0), {a, b, Given({4}, {1, 1, -1, -1})}, {{0.5}}, {0, 1}},
      {"with a margin", Margin(0.5), {a, b, Given({4}, {1, 1, -1, -1})}, {{0.875}}, {0, 1}},
      {"integers", Margin(0.5), {a, b, Given({4}, {1, 1, -1, -1}, DType::kI32)}, {{0.875}}},
      {"bool", Margin(0.5), {a, b, Given({4}, {1, 1, 0, 0}, DType::kBool)}, {{0.875}}},
      {"without a target", Margin(0.5), {a, b}, {{0.3125}}},
      {"random", Margin(0.3), {Uniform({3, 4}), Uniform({3, 4}), Uniform({3, 4})}, {}, {0, 1}},
      {"random pairs", Margin(0.3), {Uniform({3, 4}), Uniform({3, 4})}},
      Extreme("NaN", Margin(0), {Given({2}, {1, kNaN}), Given({2}, {1, 1})}, kNaN),
      Extreme("NaN target", Margin(0),
              {Given({2}, {1, 1}), Given({2}, {1, 1}), Given({2}, {1, kNaN})}, kNaN),
      Extreme("far right", Margin(1), {Given({1}, {kInfinity}), Given({1}, {1})}, 0),
      Extreme("far wrong", Margin(1), {Given({1}, {-kInfinity}), Given({1}, {1})}, kInfinity),
      Refused("margin", Margin(-1), {a, b}, "`margin` must be at least 0"),
      Refused("shapes differ", Margin(0), {a, Uniform({4, 1})}, "[4] and f64[4, 1]"),
      Refused("target's shape", Margin(0), {a, b, Uniform({2})}, "of the scores' shape"),
      Refused("another floating-point type", Margin(0),
              {a, b, Given({4}, {1, 1, 1, 1}, DType::kBF16)}, "of the scores' shape"),
  };
}

std::vector<OpCase> ranking_grad() {
  return {
      {"known",
       Margin(0.5),
       {A(), B(), Dloss(1), Given({4}, {1, 1, -1, -1})},
       {{-0.25, 0, 0.25, 0.25}}},
      {"without a target", Margin(0.5), {A(), B(), Dloss(4)}, {{-1, 0, -1, 0}}},
      {"NaN", Margin(0), {Given({2}, {0, kNaN}), Given({2}, {1, 1}), Dloss(2)}, {{-1, kNaN}}},
      Refused("no scalar", Margin(0), {A(), B(), Uniform({4})}, "scalar"),
  };
}

}  // namespace cgrun::op_cases
