// Cases of the losses and metrics. Known results: PyTorch, and by hand.
#include <limits>

#include "src/ops/loss.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Smoothing(double smoothing) {
  return Attributes::Of(SoftmaxCrossEntropyAttributes{smoothing});
}

Attributes Weighted(RealList weights, double smoothing = 0) {
  return Attributes::Of(SoftmaxCrossEntropyAttributes{smoothing, std::move(weights)});
}

Attributes Ignoring(IntList ignored, double smoothing = 0, RealList weights = {}) {
  return Attributes::Of(
      SoftmaxCrossEntropyAttributes{smoothing, std::move(weights), std::move(ignored)});
}

Attributes TopWithout(int64_t k, IntList ignored) {
  return Attributes::Of(AccuracyAttributes{k, std::move(ignored)});
}

Attributes Top(int64_t k) { return Attributes::Of(AccuracyAttributes{k}); }

CaseInput Labels(Shape shape, std::vector<double> values, DType dtype = DType::kI32) {
  return Given(std::move(shape), std::move(values), dtype);
}

// Returns softmax of the rows {1, 2, 3} and {0.5, −1, 2}.
std::vector<double> Probabilities() {
  return {0.0900305731704, 0.244728471055,  0.665240955775,
          0.17529039214,   0.0391125732707, 0.785597034589};
}

}  // namespace

std::vector<OpCase> softmax_cross_entropy() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 0.5, -1, 2});
  return {
      {"known", Smoothing(0), {x, Labels({2}, {2, 1})}, {{1.82445863055}, Probabilities()}},
      {"smoothed", Smoothing(0.1), {x, Labels({2}, {2, 1}, DType::kI64)}, {{1.79945863055}}},
      {"smoothed to the end",
       Smoothing(1),
       {x, Labels({2}, {2, 1}, DType::kU8)},
       {{1.57445863055}}},
      {"a label a position",
       Smoothing(0),
       {Given({1, 2, 3}, {1, 2, 3, 0.5, -1, 2}), Labels({1, 3}, {0, 1, 1})},
       {{1.61197534109}}},
      {"one class", Smoothing(0), {Uniform({3, 1}), Labels({3}, {0, 0, 0})}, {{0}}, {}, false},
      {"no overflow", Smoothing(0), {Given({1, 2}, {1000, 0}), Labels({1}, {1})}, {{1000}}},
      {"impossible class",
       Smoothing(0),
       {Given({1, 2}, {0, -kInfinity}), Labels({1}, {0})},
       {{0}, {1, 0}},
       {},
       false},
      {"impossible label",
       Smoothing(0),
       {Given({1, 2}, {0, -kInfinity}), Labels({1}, {1})},
       {{kInfinity}, {1, 0}},
       {},
       false},
      {"label too large",
       Smoothing(0),
       {x, Labels({2}, {2, 3})},
       {{kNaN}, Probabilities()},
       {},
       false},
      {"label below 0",
       Smoothing(0),
       {x, Labels({2}, {-1, 1})},
       {{kNaN}, Probabilities()},
       {},
       false},
      {"NaN",
       Smoothing(0),
       {Given({1, 2}, {0, kNaN}), Labels({1}, {0})},
       {{kNaN}, {kNaN, kNaN}},
       {},
       false},
      {"random", Smoothing(0), {Uniform({4, 5}), Integers({4}, DType::kI32, 0, 4)}},
      {"random, smoothed", Smoothing(0.2), {Uniform({4, 5}), Integers({4}, DType::kI32, 0, 4)}},
      {"random images",
       Smoothing(0.2),
       {Uniform({2, 3, 2, 2}), Integers({2, 2, 2}, DType::kI64, 0, 2)}},
      // PyTorch's sum over the labels, divided by their number.
      {"weighted",
       Weighted({0.5, 2, 0.25}),
       {x, Labels({2}, {2, 1})},
       {{3.29226204221}, Probabilities()}},
      {"weighted, smoothed",
       Weighted({0.5, 2, 0.25}, 0.1),
       {x, Labels({2}, {2, 1}, DType::kI64)},
       {{3.15527787913}}},
      {"a weighted label a position",
       Weighted({0.5, 2}, 0.2),
       {Given({1, 2, 3}, {1, 2, 3, 0.5, -1, 2}), Labels({1, 3}, {0, 1, 1})},
       {{2.75919025401}}},
      {"weights of 1", Weighted({1, 1, 1}, 0.1), {x, Labels({2}, {2, 1})}, {{1.79945863055}}},
      {"impossible label of weight 0",
       Weighted({1, 0}),
       {Given({1, 2}, {0, -kInfinity}), Labels({1}, {1})},
       {{0}, {1, 0}},
       {},
       false},
      {"random, weighted",
       Weighted({0.5, 2, 0, 1, 3}, 0.2),
       {Uniform({4, 5}), Integers({4}, DType::kI32, 0, 4)}},
      // PyTorch's sum over the labels that are left, divided by the number of all.
      {"a label ignored",
       Ignoring({-1}),
       {x, Labels({2}, {2, -1})},
       {{0.203802982222}, Probabilities()}},
      {"an ignored label that is a class",
       Ignoring({1}),
       {x, Labels({2}, {2, 1}, DType::kU8)},
       {{0.203802982222}, Probabilities()}},
      {"smoothed, a label ignored",
       Ignoring({-1}, 0.1),
       {x, Labels({2}, {2, -1}, DType::kI64)},
       {{0.253802982222}}},
      {"weighted, a label ignored",
       Ignoring({-1}, 0, {0.5, 2, 0.25}),
       {x, Labels({2}, {2, -1})},
       {{0.0509507455555}}},
      {"all labels ignored",
       Ignoring({-1, 7}),
       {x, Labels({2}, {7, -1})},
       {{0}, Probabilities()},
       {},
       false},
      {"a label of none and one ignored",
       Ignoring({-1}),
       {x, Labels({2}, {3, -1})},
       {{kNaN}, Probabilities()},
       {},
       false},
      {"NaN at an ignored label",
       Ignoring({-1}),
       {Given({2, 2}, {0, kNaN, 1, 1}), Labels({2}, {-1, 0})},
       {{0.346573590280}, {kNaN, kNaN, 0.5, 0.5}},
       {},
       false},
      {"padded sequences",
       Ignoring({-1}),
       {Given({1, 2, 3}, {1, 2, 3, 0.5, -1, 2}), Labels({1, 3}, {0, -1, 1})},
       {{0.595779557233}}},
      {"random, some ignored",
       Ignoring({0, 3}, 0.2, {0.5, 2, 0, 1, 3}),
       {Uniform({6, 5}), Integers({6}, DType::kI32, 0, 4)}},
      {"random sequences, some ignored",
       Ignoring({2}),
       {Uniform({2, 3, 4}), Integers({2, 4}, DType::kI64, 0, 2)}},
      Refused("weights too few", Weighted({1, 2}), {x, Labels({2}, {2, 1})},
              "2 weights for 3 classes"),
      Refused("weight below 0", Weighted({1, 2, -1}), {x, Labels({2}, {2, 1})},
              "`class_weights` must be at least 0"),
      Refused("labels too many", Smoothing(0), {x, Labels({3}, {0, 1, 2})}, "of shape [2]"),
      Refused("labels are no integers", Smoothing(0), {x, Uniform({2})}, "integer type"),
      Refused("no classes", Smoothing(0), {Uniform({2}), Labels({}, {0})}, "[N, classes]"),
      Refused("smoothing", Smoothing(1.5), {x, Labels({2}, {0, 0})}, "at most 1"),
  };
}

std::vector<OpCase> softmax_cross_entropy_grad() {
  const CaseInput p = Given({2, 3}, Probabilities());
  return {
      {"known",
       Smoothing(0),
       {p, Labels({2}, {2, 1}), AtLeastF32(Given({}, {1}))},
       {{0.0450152865852, 0.122364235527, -0.167379522113, 0.08764519607, -0.480443713365,
         0.392798517295}}},
      {"smoothed, doubled",
       Smoothing(0.1),
       {p, Labels({2}, {2, 1}), AtLeastF32(Given({}, {2}))},
       {{2 * 0.0283486199185, 2 * 0.105697568861, 2 * -0.134046188779, 2 * 0.0709785294034,
         2 * -0.447110380031, 2 * 0.376131850628}}},
      {"weighted",
       Weighted({0.5, 2, 0.25}),
       {p, Labels({2}, {2, 1}), AtLeastF32(Given({}, {1}))},
       {{0.0112538216463, 0.0305910588818, -0.0418448805281, 0.17529039214, -0.960887426729,
         0.785597034589}}},
      {"weighted, smoothed",
       Weighted({0.5, 2, 0.25}, 0.1),
       {p, Labels({2}, {2, 1}), AtLeastF32(Given({}, {1}))},
       {{0.00592150741864, 0.00541534125034, -0.011336848669, 0.157462162566, -0.896339357781,
         0.738877195216}}},
      {"a label ignored",
       Ignoring({-1}),
       {p, Labels({2}, {2, -1}), AtLeastF32(Given({}, {1}))},
       {{0.0450152865852, 0.122364235527, -0.167379522113, 0, 0, 0}}},
      {"an ignored label that is a class, weighted",
       Ignoring({1}, 0, {0.5, 2, 0.25}),
       {p, Labels({2}, {2, 1}), AtLeastF32(Given({}, {1}))},
       {{0.0112538216463, 0.0305910588818, -0.0418448805281, 0, 0, 0}}},
      {"NaN at an ignored label",
       Ignoring({-1}),
       {Given({2, 2}, {kNaN, kNaN, 0.25, 0.75}), Labels({2}, {-1, 1}), AtLeastF32(Given({}, {1}))},
       {{0, 0, 0.125, -0.125}}},
      {"label out of range",
       Smoothing(0),
       {Given({2, 2}, {0.5, 0.5, 0.25, 0.75}), Labels({2}, {2, 1}), AtLeastF32(Given({}, {1}))},
       {{kNaN, kNaN, 0.125, -0.125}}},
      Refused("no scalar", Smoothing(0), {p, Labels({2}, {2, 1}), Uniform({2})}, "scalar"),
  };
}

std::vector<OpCase> squared_error() {
  return {
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2, 2}, {0.5, 2, 1, 7})}, {{3.3125}}},
      {"scalars", {}, {Given({}, {3}), Given({}, {1})}, {{4}}},
      {"random", {}, {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      {"NaN", {}, {Given({2}, {1, kNaN}), Given({2}, {1, 1})}, {{kNaN}}, {}, false},
      Refused("shapes differ", {}, {Uniform({2, 1}), Uniform({2})}, "[2, 1] and f64[2]"),
      Refused("target of another type", {}, {Uniform({2}), Integers({2}, DType::kI32, 0, 3)},
              "of one floating-point type"),
  };
}

std::vector<OpCase> squared_error_grad() {
  return {
      {"known",
       {},
       {Given({2, 2}, {1, 2, 3, 4}), Given({2, 2}, {0.5, 2, 1, 7}), AtLeastF32(Given({}, {2}))},
       {{0.5, 0, 2, -3}}},
      Refused("no scalar", {}, {Uniform({2}), Uniform({2}), Uniform({2})}, "scalar"),
  };
}

std::vector<OpCase> accuracy() {
  const CaseInput x = Given({3, 3}, {1, 3, 2, 9, 8, 7, 4, 5, 6});
  return {
      {"two of three", Top(1), {x, Labels({3}, {1, 0, 0})}, {{2}}},
      {"top 2", Top(2), {x, Labels({3}, {2, 2, 1}, DType::kI64)}, {{2}}},
      {"top of all", Top(3), {x, Labels({3}, {0, 2, 0}, DType::kU8)}, {{3}}},
      {"of equals the first",
       Top(1),
       {Given({2, 3}, {5, 5, 5, 5, 5, 5}), Labels({2}, {0, 1})},
       {{1}}},
      {"top 2 of equals",
       Top(2),
       {Given({3, 3}, {5, 5, 5, 5, 5, 5, 5, 5, 5}), Labels({3}, {0, 1, 2})},
       {{2}}},
      {"NaN comes first and is never right",
       Top(1),
       {Given({3, 2}, {kNaN, 1, 1, kNaN, 1, 0}), Labels({3}, {0, 0, 0})},
       {{1}}},
      {"labels out of range", Top(3), {x, Labels({3}, {-1, 3, 0})}, {{1}}},
      {"one class", Top(1), {Uniform({2, 1}), Labels({2}, {0, 0})}, {{2}}},
      {"a label ignored", TopWithout(1, {-1}), {x, Labels({3}, {1, -1, 0})}, {{1, 2}}},
      {"labels ignored that are classes",
       TopWithout(2, {1, 2}),
       {x, Labels({3}, {1, 2, 0}, DType::kU8)},
       {{0, 1}}},
      {"all labels ignored", TopWithout(1, {-1}), {x, Labels({3}, {-1, -1, -1})}, {{0, 0}}},
      {"a label ignored and one out of range",
       TopWithout(1, {-1}),
       {x, Labels({3}, {-1, 3, 2}, DType::kI64)},
       {{1, 2}}},
      Refused("top 0", Top(0), {x, Labels({3}, {0, 0, 0})}, "`top_k` must be at least 1"),
      Refused("top 4", Top(4), {x, Labels({3}, {0, 0, 0})}, "more than the 3 classes"),
      Refused("labels too few", Top(1), {x, Labels({2}, {0, 0})}, "of shape [3]"),
      {"a label a place",
       Top(1),
       {Given({2, 2, 2}, {1, 4, 3, 2, 5, 5, 5, 6}), Labels({2, 2}, {1, 1, 0, 1})},
       {{3, 4}}},
      {"a label a place, some ignored",
       TopWithout(1, {-1}),
       {Given({2, 2, 2}, {1, 4, 3, 2, 5, 5, 5, 6}), Labels({2, 2}, {1, -1, -1, 1})},
       {{2, 2}}},
      {"one sample, three places",
       Top(2),
       {Given({1, 3, 3}, {1, 9, 4, 3, 8, 5, 2, 7, 6}), Labels({1, 3}, {0, 2, 1})},
       {{1, 3}}},
      {"one place", Top(1), {Given({2, 2, 1}, {1, 2, 4, 3}), Labels({2, 1}, {1, 1})}, {{1, 2}}},
      Refused("one label of many places", Top(1), {Uniform({2, 3, 2}), Labels({2}, {0, 0})},
              "of shape [2, 2]"),
      Refused("scores", Top(1), {Uniform({2}), Labels({2}, {0, 0})}, "one score a sample"),
      Refused("whole numbers", Top(1), {Labels({2, 2}, {0, 1, 1, 0}), Labels({2}, {0, 0})},
              "floating-point logits [N, classes]"),
  };
}

}  // namespace cgrun::op_cases
