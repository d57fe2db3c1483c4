// Cases of the metrics beside accuracy: the sums that they give for a batch. Known results: by
// hand. tests/ops/metric_test.cc has what is made of the sums.
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "src/ops/metric.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput Labels(Shape shape, std::vector<double> values, DType dtype = DType::kI32) {
  return Given(std::move(shape), std::move(values), dtype);
}

Attributes Top(int64_t k) { return Attributes::Of(TopKAccuracyAttributes{k}); }
Attributes Classes() { return Attributes::Of(ClassMetricAttributes()); }
Attributes Above(double threshold) {
  return Attributes::Of(ClassMetricAttributes{"macro", threshold});
}
Attributes Bins(int64_t bins, bool from_logits = true) {
  return Attributes::Of(AucAttributes{bins, from_logits});
}

// The classes that are found are 1, 0, 2, 1 (the first of equals) and none.
CaseInput Logits() { return Given({5, 3}, {1, 3, 2, 9, 8, 7, 4, 5, 6, 0, 5, 5, kNaN, 1, 2}); }

// The first four are one sample of four places here, and the last one stands alone.
CaseInput PlacedLogits() {
  return Given({2, 3, 2, 2}, {1,    9, 4, 0, 3, 8, 5, 5, 2, 7, 6, 5,  //
                              kNaN, 0, 1, 2, 1, 0, 5, 1, 2, 0, 9, 0});
}

// The cases are those of per_class_accuracy, precision, recall and f1.
std::vector<OpCase> Counting(const Attributes& attributes) {
  return {
      {"known",
       attributes,
       {Logits(), Labels({5}, {1, 1, 2, 0, 0})},
       {{0, 1, 1, 1, 2, 1, 2, 2, 1}}},
      {"labels out of range",
       attributes,
       {Logits(), Labels({5}, {-1, 3, 2, 0, 1}, DType::kI64)},
       {{0, 0, 1, 0, 1, 1, 1, 1, 1}}},
      {"two classes",
       attributes,
       {Given({2, 2}, {1, 2, -kInfinity, kInfinity}), Labels({2}, {0, 1}, DType::kU8)},
       {{0, 1, 0, 2, 1, 1}}},
      Refused("labels too few", attributes, {Logits(), Labels({2}, {0, 0})}, "of shape [5]"),
      // Found: 1, 0, 2, 1; none, 0, 2, 0.
      {"a label a place",
       attributes,
       {PlacedLogits(), Labels({2, 2, 2}, {1, 1, 2, 0, 0, 0, 2, 7})},
       {{1, 1, 2, 2, 2, 2, 3, 2, 2}}},
      Refused("a label an image", attributes, {Uniform({2, 3, 2}), Labels({2}, {0, 0})},
              "of shape [2, 2]"),
  };
}

std::vector<OpCase> CountingScores() {
  std::vector<OpCase> cases = Counting(Classes());
  cases.push_back(
      {"scores",
       Above(0.5),
       {Given({5, 1}, {0.6, 0.5, 0.9, 0.1, kNaN}), Labels({5, 1}, {1, 1, 0, 0, 1}, DType::kBool)},
       {{1, 2, 3}}});
  cases.push_back({"scores without an axis",
                   Above(0),
                   {Given({3}, {1, 2, -1}), Given({3}, {1, -1, 1})},
                   {{1, 2, 2}}});
  cases.push_back(
      Refused("shapes differ", Above(0), {Uniform({3}), Uniform({3, 1})}, "a target of its shape"));
  return cases;
}

OpCase TwoErrors(std::vector<double> expected) {
  return {.name = "known",
          .inputs = {Given({2, 2}, {1, 2, 3, 4}), Given({2, 2}, {0.5, 2, 1, 7})},
          .expected = {std::move(expected)}};
}

}  // namespace

std::vector<OpCase> top_k_accuracy() {
  const CaseInput x = Given({3, 3}, {1, 3, 2, 9, 8, 7, 4, 5, 6});
  return {
      {"top 1", Top(1), {x, Labels({3}, {1, 0, 0})}, {{2}}},
      {"top 2", Top(2), {x, Labels({3}, {2, 2, 1}, DType::kI64)}, {{2}}},
      {"a label a place",
       Top(2),
       {PlacedLogits(), Labels({2, 2, 2}, {1, 1, 0, 0, 1, 0, 2, 0}, DType::kU8)},
       {{5, 8}}},
      {"top of all", Top(3), {x, Labels({3}, {0, 2, 0}, DType::kU8)}, {{3}}},
      Refused("top 4", Top(4), {x, Labels({3}, {0, 0, 0})}, "more than the 3 classes"),
      Refused("top 0", Top(0), {x, Labels({3}, {0, 0, 0})}, "`k` must be at least 1"),
      Refused("labels too few", Top(1), {x, Labels({2}, {0, 0})}, "of shape [3]"),
  };
}

std::vector<OpCase> per_class_accuracy() { return Counting(Attributes()); }
std::vector<OpCase> precision() { return CountingScores(); }
std::vector<OpCase> recall() { return CountingScores(); }
std::vector<OpCase> f1() { return CountingScores(); }

std::vector<OpCase> confusion_matrix() {
  return {
      {"known", {}, {Logits(), Labels({5}, {1, 1, 2, 0, 0})}, {{0, 1, 0, 1, 1, 0, 0, 0, 1}}},
      {"labels out of range",
       {},
       {Logits(), Labels({5}, {-1, 3, 2, 0, 1}, DType::kI64)},
       {{0, 1, 0, 0, 0, 0, 0, 0, 1}}},
      {"a label a place",
       {},
       {PlacedLogits(), Labels({2, 2, 2}, {1, 1, 2, 0, 0, 0, 2, 7})},
       {{1, 1, 0, 1, 1, 0, 0, 0, 2}}},
      Refused("scores", {}, {Uniform({2}), Labels({2}, {0, 0})}, "one score a sample"),
      Refused("whole numbers", {}, {Labels({2, 2}, {0, 1, 1, 0}), Labels({2}, {0, 0})},
              "floating-point logits [N, classes]"),
      Refused("too many classes", {}, {Uniform({1, int64_t{1} << 40}), Labels({1}, {0})},
              "too large"),
  };
}

std::vector<OpCase> auc() {
  const auto samples = [](std::initializer_list<std::pair<double, bool>> scores) {
    std::vector<double> numbers;
    for (const auto& [score, positive] : scores) numbers.push_back(ScoredSample(score, positive));
    return numbers;
  };
  return {
      {"samples",
       Bins(0),
       {Given({4}, {1, -0.0, 1, kInfinity}), Given({4}, {1, 0, 0, 0.5})},
       {samples({{1, true}, {0, false}, {1, false}, {kInfinity, true}})}},
      {"samples of two logits",
       Bins(0),
       {Given({2, 2}, {1, 2.5, 5, 3}), Labels({2}, {1, 0})},
       {samples({{1.5, true}, {-2, false}})}},
      // 1/2 + x / (2 + 2|x|): 0.75, 0.25, 0.5, 0.6, 0, 1.
      {"logits",
       Bins(4),
       {Given({6}, {1, -1, 0, 0.25, -kInfinity, kInfinity}), Given({6}, {1, 0, 0, 1, -1, 1})},
       {{1, 1, 1, 0, 0, 0, 1, 2}}},
      {"probabilities",
       Bins(2, false),
       {Given({5, 1}, {0.1, 0.5, 0.9, 1, -3}), Labels({5, 1}, {0, 1, 1, 0, 1}, DType::kU8)},
       {{1, 1, 1, 2}}},
      {"two logits",
       Bins(2),
       {Given({3, 2}, {1, 2, 5, 3, 4, 4}), Labels({3}, {1, 1, 0})},
       {{0, 1, 1, 1}}},
      {"NaN", Bins(2), {Given({2}, {1, kNaN}), Given({2}, {1, 0})}, {{kNaN, 0, kNaN, 1}}},
      Refused("three logits", Bins(4), {Uniform({2, 3}), Labels({2}, {0, 0})}, "scores [N]"),
      Refused("bins below 0", Bins(-1), {Uniform({2}), Uniform({2})}, "`bins` must be at least 0"),
      Refused("labels of two logits", Bins(4), {Uniform({2, 2}), Uniform({2, 2})},
              "labels of an integer type"),
  };
}

std::vector<OpCase> mean_absolute_error() {
  return {
      TwoErrors({5.5, 4}),
      {"integers", {}, {Given({2}, {0.5, 2}), Labels({2}, {1, 0})}, {{2.5, 2}}},
      {"NaN", {}, {Given({1}, {kNaN}), Given({1}, {1})}, {{kNaN, 1}}},
      {"random", {}, {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      Refused("shapes differ", {}, {Uniform({2, 1}), Uniform({2})}, "f64[2, 1] and f64[2]"),
  };
}

std::vector<OpCase> mean_squared_error() {
  return {
      TwoErrors({13.25, 4}),
      {"random", {}, {Uniform({3, 4, 2}), Uniform({3, 4, 2})}},
      Refused("shapes differ", {}, {Uniform({2, 1}), Uniform({2})}, "f64[2, 1] and f64[2]"),
  };
}

std::vector<OpCase> r2() {
  return {
      TwoErrors({2, 2, 0.75, 4.5, 0.125, 12.5, 4.25, 9}),
      {"one column", {}, {Given({2}, {1, 2}), Labels({2}, {3, 2}, DType::kU8)}, {{2, 2.5, 0.5, 4}}},
      {"far from 0",
       {},
       {Given({4}, {1e9, 1e9, 1e9, 1e9}), Given({4}, {1e9 + 1, 1e9 + 2, 1e9 + 4, 1e9 + 5})},
       {{4, 1e9 + 3, 10, 46}}},
      {"random", {}, {Uniform({4, 3, 2}), Uniform({4, 3, 2})}},
      Refused("scalars", {}, {Uniform({}), Uniform({})}, "a prediction a sample"),
      Refused("batch elsewhere", {}, {Uniform({2, kBatchDim}), Uniform({2, kBatchDim})},
              "the axis of the samples must be 0"),
  };
}

}  // namespace cgrun::op_cases
