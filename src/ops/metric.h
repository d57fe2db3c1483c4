// Attributes of metrics, and what their sums are.
#ifndef CGRUN_OPS_METRIC_H_
#define CGRUN_OPS_METRIC_H_

#include <string>

#include "src/ir/attributes.h"
#include "src/ir/op_def.h"

namespace cgrun {

struct TopKAccuracyAttributes {
  int64_t k = 5;

  static const AttributeSchema& Schema();
};

// Of precision, recall and f1.
struct ClassMetricAttributes {
  std::string average = "macro";
  double threshold = 0;

  static const AttributeSchema& Schema();
};

struct AucAttributes {
  int64_t bins = 4096;
  bool from_logits = true;

  static const AttributeSchema& Schema();
};

// Whether inputs 0 and 1 are floating-point logits [N, classes, …] and integer labels [N, …];
// reports it where not.
bool CheckClasses(InferContext& context);

// The sums of accuracy and top_k_accuracy for such logits, and what is made of them: how many
// labels are right, and where a sample has several labels or some are ignored, how many count.
Shape RightLabelsShape(const Shape& logits, bool some_ignored = false);
MetricDef RightLabels();

// Whether input 0 has a score a sample, not one a class: [N] or [N, 1].
bool IsScore(const Shape& scores);

// Rows of the counts of per_class_accuracy, precision, recall and f1: of each class, the samples
// that are it and are found to be it, those that are found to be it, and those that are it.
inline constexpr int64_t kRightRow = 0, kFoundRow = 1, kActualRow = 2, kClassRows = 3;

// Rows of the sums of r2: of each column, the samples, the mean of t, Σ(t - mean)² and Σ(t - y)².
inline constexpr int64_t kCountRow = 0, kMeanRow = 1, kSpreadRow = 2, kErrorRow = 3,
                         kRegressionRows = 4;

}  // namespace cgrun

#endif  // CGRUN_OPS_METRIC_H_
