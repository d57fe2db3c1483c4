// Tests the numbers that metrics make of their sums. The known results are worked out by hand with
// scikit-learn's formulas.
#include "src/ops/metric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "src/ir/op_def.h"
#include "src/ops/loss.h"

namespace cgrun {
namespace {

using Numbers = std::vector<double>;

// Returns the numbers that are shown for sums of that shape.
Numbers Shown(OpId op, const Attributes& attributes, const TensorType& type, const Numbers& sums,
              int64_t samples = 0) {
  const std::optional<Shape> shape = ShownBy(op, attributes, type);
  if (!shape) return {};
  Numbers shown(static_cast<size_t>(shape->Elements()), -1);
  GetOpDef(op).metric.finish(attributes, sums, samples, shown);
  return shown;
}

Attributes Average(std::string average) {
  return Attributes::Of(ClassMetricAttributes{std::move(average), 0});
}

const TensorType kFourClasses{DType::kI64, {3, 4}};
// Right, found, there. The last class is neither found nor there, the third is never found.
const Numbers kCounts = {3, 1, 0, 0, 4, 3, 0, 0, 3, 2, 2, 0};

TEST(Metrics, PrecisionRecallAndF1LeaveAbsentClassesOut) {
  EXPECT_EQ(Shown(OpId::precision, Average("none"), kFourClasses, kCounts),
            (Numbers{0.75, 1.0 / 3, 0, 0}));
  EXPECT_EQ(Shown(OpId::recall, Average("none"), kFourClasses, kCounts), (Numbers{1, 0.5, 0, 0}));
  EXPECT_EQ(Shown(OpId::f1, Average("none"), kFourClasses, kCounts), (Numbers{6.0 / 7, 0.4, 0, 0}));
  EXPECT_EQ(Shown(OpId::precision, Average("macro"), kFourClasses, kCounts),
            (Numbers{(0.75 + 1.0 / 3) / 3}));
  EXPECT_EQ(Shown(OpId::recall, Average("macro"), kFourClasses, kCounts), (Numbers{0.5}));
  EXPECT_EQ(Shown(OpId::f1, Average("macro"), kFourClasses, kCounts),
            (Numbers{(6.0 / 7 + 0.4) / 3}));
}

TEST(Metrics, ScoresHaveOneClass) {
  const TensorType type{DType::kI64, {3, 1}};
  for (const char* average : {"macro", "none"}) {
    EXPECT_EQ(Shown(OpId::precision, Average(average), type, {1, 2, 4}), (Numbers{0.5}));
    EXPECT_EQ(Shown(OpId::recall, Average(average), type, {1, 2, 4}), (Numbers{0.25}));
    EXPECT_EQ(Shown(OpId::f1, Average(average), type, {1, 2, 4}), (Numbers{1.0 / 3}));
    EXPECT_EQ(Shown(OpId::f1, Average(average), type, {0, 0, 0}), (Numbers{0}));
  }
}

TEST(Metrics, PerClassAccuracyOfAnAbsentClassIsNoNumber) {
  const Numbers shown = Shown(OpId::per_class_accuracy, Attributes(), kFourClasses, kCounts);
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_EQ(Numbers(shown.begin(), shown.begin() + 3), (Numbers{1, 0.5, 0}));
  EXPECT_TRUE(std::isnan(shown[3]));
}

TEST(Metrics, ConfusionMatrixIsWhatWasCounted) {
  const Numbers counts = {5, 1, 0, 7};
  EXPECT_EQ(Shown(OpId::confusion_matrix, Attributes(), {DType::kI64, {2, 2}}, counts), counts);
}

TEST(Metrics, AccuracyIsOfLabels) {
  const Attributes top_1 = Attributes::Of(AccuracyAttributes());
  EXPECT_EQ(Shown(OpId::accuracy, top_1, {DType::kI64, {}}, {3}, 4), (Numbers{0.75}));
  EXPECT_EQ(Shown(OpId::accuracy, top_1, {DType::kI64, {2}}, {3, 12}, 4), (Numbers{0.25}));
  EXPECT_EQ(Shown(OpId::accuracy, top_1, {DType::kI64, {2}}, {0, 0}, 0), (Numbers{0}));
  EXPECT_FALSE(ShownBy(OpId::accuracy, top_1, {DType::kI64, {3}}).has_value());
  const Attributes ignoring = Attributes::Of(AccuracyAttributes{1, {-1}});
  EXPECT_EQ(Shown(OpId::accuracy, ignoring, {DType::kI64, {2}}, {3, 6}, 40), (Numbers{0.5}));
  const Attributes top_5 = Attributes::Of(TopKAccuracyAttributes());
  EXPECT_EQ(Shown(OpId::top_k_accuracy, top_5, {DType::kI64, {}}, {3}, 4), (Numbers{0.75}));
  EXPECT_EQ(Shown(OpId::top_k_accuracy, top_5, {DType::kI64, {2}}, {3, 12}, 4), (Numbers{0.25}));
}

TEST(Metrics, AucCountsPairs) {
  const Attributes attributes = Attributes::Of(AucAttributes{4, true});
  const TensorType type{DType::kF64, {2, 4}};
  // There are six pairs: one positive is above both negatives, one in the bin of one of them, and
  // one below both.
  EXPECT_EQ(Shown(OpId::auc, attributes, type, {0, 1, 1, 0, 1, 0, 1, 1}), (Numbers{3.5 / 6}));
  EXPECT_EQ(Shown(OpId::auc, attributes, type, {2, 0, 0, 0, 0, 0, 0, 5}), (Numbers{1}));
  EXPECT_EQ(Shown(OpId::auc, attributes, type, {0, 3, 0, 0, 0, 3, 0, 0}), (Numbers{0.5}));
  EXPECT_TRUE(std::isnan(Shown(OpId::auc, attributes, type, {1, 0, 2, 0, 0, 0, 0, 0})[0]));
}

// The area of scores and classes, as a pass has them in the end.
double Area(std::vector<std::pair<double, bool>> scores) {
  Numbers samples;
  for (const auto& [score, positive] : scores) samples.push_back(ScoredSample(score, positive));
  std::ranges::sort(samples,
                    [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const auto size = static_cast<int64_t>(samples.size());
  return Shown(OpId::auc, Attributes::Of(AucAttributes()), {DType::kF64, {size}}, samples)[0];
}

TEST(Metrics, AucIsExact) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Area({{1e-5, false}, {3e-5, true}}), 1);
  EXPECT_EQ(Area({{20'000, false}, {30'000, true}}), 1);
  EXPECT_EQ(Area({{-1e-6, false}, {-0.9e-6, true}, {1e-6, false}, {1.1e-6, true}}), 0.75);
  EXPECT_EQ(Area({{1.0F, true}, {std::nextafter(1.0F, 2.0F), false}}), 0);
  EXPECT_EQ(Area({{40, false}, {41, true}, {41.5, false}, {42, true}}), 0.75);
  EXPECT_EQ(Area({{-0.0, true}, {0.0, false}}), 0.5);
  EXPECT_EQ(Area({{-kInfinity, false}, {kInfinity, true}, {kInfinity, false}}), 0.75);
  EXPECT_EQ(Area({{2, true}, {2, false}, {2, false}, {1, false}}), 2.0 / 3);
  EXPECT_TRUE(std::isnan(Area({{1, true}, {2, true}})));
  EXPECT_TRUE(std::isnan(Area({{1, true}, {2, false}, {std::nan(""), false}})));
  EXPECT_TRUE(std::isnan(Area({})));
}

TEST(Metrics, WhatApproximatesIsKnown) {
  EXPECT_TRUE(IsApproximate(OpId::auc, Attributes::Of(AucAttributes{4})));
  EXPECT_FALSE(IsApproximate(OpId::auc, Attributes::Of(AucAttributes())));
  EXPECT_FALSE(IsApproximate(OpId::accuracy, Attributes::Of(AccuracyAttributes())));
  EXPECT_TRUE(KeepsSamples(OpId::auc, {7}));
  EXPECT_FALSE(KeepsSamples(OpId::auc, {2, 4}));
  EXPECT_FALSE(KeepsSamples(OpId::per_class_accuracy, {7}));
}

// Targets 3, 2, 7, 1 and -0.5, 7, 1, 4; scikit-learn's r2_score of {2.5, 0, 8, 1.5} and
// {0, 8, 2, 3.5}.
TEST(Metrics, R2IsTheMeanOfItsColumns) {
  const TensorType type{DType::kF64, {4, 2}};
  EXPECT_NEAR(Shown(OpId::r2, Attributes(), type, {4, 4, 3.25, 2.875, 20.75, 33.1875, 5.5, 2.5})[0],
              (1 - 5.5 / 20.75 + 1 - 2.5 / 33.1875) / 2, 1e-12);
}

TEST(Metrics, R2OfTargetsThatAreAllTheSame) {
  const TensorType type{DType::kF64, {4, 1}};
  EXPECT_EQ(Shown(OpId::r2, Attributes(), type, {3, 0.1, 0, 0}), (Numbers{1}));
  EXPECT_EQ(Shown(OpId::r2, Attributes(), type, {3, 0.1, 0, 0.5}), (Numbers{0}));
  EXPECT_EQ(Shown(OpId::r2, Attributes(), type, {3, 0, 0, 0}), (Numbers{1}));
  Numbers sums(4);  // the same to the bit, whatever the sizes of batches are
  for (double samples : {1.0, 7.0, 3.0}) {
    GetOpDef(OpId::r2).metric.merge(Numbers{samples, 0.1, 0, 0}, sums);
  }
  EXPECT_EQ(sums, (Numbers{11, 0.1, 0, 0}));
}

// Targets whose spread is lost in the sum of their squares.
TEST(Metrics, R2OfTargetsFarFromZero) {
  const TensorType type{DType::kF64, {4, 1}};
  for (const auto& [offset, deviation] : {std::pair(2e6, 1.5), {1.7e9, 600.0}, {-1e12, 1.0}}) {
    constexpr int kSamples = 1065;
    Numbers targets, errors;
    for (int i = 0; i < kSamples; ++i) {
      targets.push_back(offset + deviation * std::sin(i));
      errors.push_back(0.3 * deviation * std::cos(5.0 * i));
    }
    const auto of = [&](int first, int end) {  // by two passes
      const double count = end - first;
      double mean = 0, spread = 0, error = 0;
      for (int i = first; i < end; ++i) mean += (targets[i] - offset) / count;
      for (int i = first; i < end; ++i) {
        spread += std::pow(targets[i] - offset - mean, 2);
        error += errors[i] * errors[i];
      }
      return Numbers{count, offset + mean, spread, error};
    };
    const Numbers all = of(0, kSamples);
    const double r2 = 1 - all[3] / all[2];
    EXPECT_NEAR(r2, 0.91, 0.01);
    for (int batch : {1, 33, 100, kSamples}) {
      Numbers sums(4);
      for (int first = 0; first < kSamples; first += batch) {
        GetOpDef(OpId::r2).metric.merge(of(first, std::min(first + batch, kSamples)), sums);
      }
      EXPECT_NEAR(Shown(OpId::r2, Attributes(), type, sums)[0], r2, 1e-6) << offset << ' ' << batch;
    }
  }
}

TEST(Metrics, ErrorsAreMeansOverElements) {
  const TensorType type{DType::kF64, {2}};
  EXPECT_EQ(Shown(OpId::mean_absolute_error, Attributes(), type, {5.5, 4}, 2), (Numbers{1.375}));
  EXPECT_EQ(Shown(OpId::mean_squared_error, Attributes(), type, {13.25, 4}, 2), (Numbers{3.3125}));
}

// A damaged program may have such sums.
TEST(Metrics, SumsOfAnotherShapeAreRefused) {
  EXPECT_FALSE(ShownBy(OpId::confusion_matrix, Attributes(), {DType::kI64, {2, 3}}));
  EXPECT_FALSE(ShownBy(OpId::per_class_accuracy, Attributes(), {DType::kI64, {2, 3}}));
  EXPECT_FALSE(ShownBy(OpId::auc, Attributes::Of(AucAttributes{8}), {DType::kF64, {2, 4}}));
  EXPECT_FALSE(ShownBy(OpId::r2, Attributes(), {DType::kF64, {2}}));
  EXPECT_FALSE(ShownBy(OpId::r2, Attributes(), {DType::kF32, {4, 1}}));
  EXPECT_FALSE(ShownBy(OpId::auc, Attributes(), {DType::kF64, {2, 4096}}));
  EXPECT_FALSE(ShownBy(OpId::relu, Attributes(), {DType::kI64, Shape()}));
}

}  // namespace
}  // namespace cgrun
