// Declares the attributes of metrics, and what their sums are.
#ifndef CGRUN_OPS_METRIC_H_
#define CGRUN_OPS_METRIC_H_

#include <span>
#include <string>

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct TopKAccuracyAttributes {
  int64_t k = 5;

  static const AttributeSchema& Schema();
};

// These are the attributes of precision, recall and f1.
struct ClassMetricAttributes {
  std::string average = "macro";
  double threshold = 0;

  static const AttributeSchema& Schema();
};

struct AucAttributes {
  int64_t bins = 0;
  bool from_logits = true;

  static const AttributeSchema& Schema();
};

// This is a MetricDef::merge of metrics whose first output can be one number for each sample, f64
// [N]. Such numbers are not added up. A pass keeps them all, side by side, and finish() gets them
// in ascending order, NaN last. Sums of other shapes are added.
void KeepSamples(std::span<const double> batch, std::span<double> sums) noexcept;
// Returns whether a pass keeps the numbers of each sample, 8 bytes each, for results of this shape.
bool KeepsSamples(OpId op, const Shape& result);
// Returns whether the shown number is only an approximation of the metric.
bool IsApproximate(OpId op, const Attributes& attributes);

// Returns a sample of one of two classes as a number. These numbers have the order of the scores,
// which are exact but for the last of the 53 bits of an f64. If the score is not a number, returns
// NaN.
double ScoredSample(double score, bool positive);

// Returns whether inputs 0 and 1 are floating-point logits [N, classes, …] and integer labels [N,
// …]; reports it where not.
bool CheckClasses(InferContext& context);

// Returns the shape of the sums of accuracy and top_k_accuracy for such logits: how many labels are
// right. If a sample has several labels or some are ignored, the sums also say how many count.
// RightLabels() says what is made of them.
Shape RightLabelsShape(const Shape& logits, bool some_ignored = false);
MetricDef RightLabels();

// Returns whether input 0 has a score a sample, not one a class: [N] or [N, 1].
bool IsScore(const Shape& scores);

// These are the rows of the counts of per_class_accuracy, precision, recall and f1. For each class
// they count the samples that are rightly found to be of it, all that are found to be of it, and
// all that are of it.
inline constexpr int64_t kRightRow = 0, kFoundRow = 1, kActualRow = 2, kClassRows = 3;

// These are the rows of the sums of r2. For each column they hold the number of samples, the mean
// of t, Σ(t - mean)² and Σ(t - y)².
inline constexpr int64_t kCountRow = 0, kMeanRow = 1, kSpreadRow = 2, kErrorRow = 3,
                         kRegressionRows = 4;

}  // namespace cgrun

#endif  // CGRUN_OPS_METRIC_H_
