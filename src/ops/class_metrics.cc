// Metrics of classifiers beside accuracy: top_k_accuracy, per_class_accuracy, precision, recall, f1
// and confusion_matrix. They count samples, so that batches only have to be added up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& TopKAccuracyAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<TopKAccuracyAttributes>()
          .Add("k", &TopKAccuracyAttributes::k,
               "a sample counts if its label is among this many classes of largest logits")
          .AtLeast(1)
          .Build();
  return schema;
}

const AttributeSchema& ClassMetricAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ClassMetricAttributes>()
          .Add("average", &ClassMetricAttributes::average,
               "macro: the mean of all classes that are there; none: a number a class")
          .Choices({"macro", "none"})
          .Add("threshold", &ClassMetricAttributes::threshold,
               "of one score a sample: a larger one means the positive class; 0 suits logits, 0.5 "
               "probabilities")
          .Build();
  return schema;
}

bool CheckClasses(InferContext& context) {
  const Shape& logits = context.shape(0);
  if (IsFloat(context.dtype(0)) && IsScore(logits) && context.shape(1) == logits) {
    context.Fail("needs the logits of two classes or more, and " + context.input(0).ToString() +
                     " is one score a sample",
                 "`precision`, `recall`, `f1` and `auc` take one score and its target as they "
                 "are; or give the model two units, softmax_cross_entropy, and a label of "
                 "`type: int32, shape: []`");
    return false;
  }
  if (!IsFloat(context.dtype(0)) || logits.rank() < 2 || logits[1].batch) {
    context.Fail("needs floating-point logits [N, classes], not " + context.input(0).ToString());
    return false;
  }
  Shape::Dims wanted = logits.dims();
  wanted.erase(wanted.begin() + 1);
  if (IsIndex(context.dtype(1)) && context.shape(1) == Shape(wanted)) return true;
  context.Fail("needs labels of an integer type and of shape " + Shape(wanted).ToString() +
                   ", not " + context.input(1).ToString(),
               logits.rank() == 2 ? "a label is the index of a class; its placeholder has shape []"
                                  : "logits of more than two axes have the classes in their second "
                                    "one, and a label for each place");
  return false;
}

bool IsScore(const Shape& scores) {
  return scores.rank() == 1 || (scores.rank() == 2 && scores[1] == Dim(1));
}

namespace op_def {
namespace {

// Counts the samples that are rightly found to be of a class, all that are found to be of it, and
// all that are of it.
struct ClassCounts {
  double right = 0;
  double found = 0;
  double actual = 0;
};

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double Precision(const ClassCounts& c) { return Ratio(c.right, c.found); }
double Recall(const ClassCounts& c) { return Ratio(c.right, c.actual); }
double F1(const ClassCounts& c) { return Ratio(2 * c.right, c.found + c.actual); }

ClassCounts CountsOf(std::span<const double> sums, size_t c) {
  const size_t classes = sums.size() / kClassRows;
  return {sums[kRightRow * classes + c], sums[kFoundRow * classes + c],
          sums[kActualRow * classes + c]};
}

std::vector<TensorType> InferTopK(InferContext& context) {
  if (!CheckClasses(context)) return {};
  const int64_t k = context.attributes<TopKAccuracyAttributes>().k;
  const int64_t classes = context.shape(0)[1].size;
  if (k > classes) {
    return context.Fail("`k` " + std::to_string(k) + " is more than the " +
                        std::to_string(classes) + " classes");
  }
  return {{DType::kI64, RightLabelsShape(context.shape(0))}};
}

std::vector<TensorType> InferCounts(InferContext& context) {
  if (!CheckClasses(context)) return {};
  return {{DType::kI64, Shape{Dim(kClassRows), context.shape(0)[1]}}};
}

// Scores of one class have one column of counts.
std::vector<TensorType> InferCountsOrScores(InferContext& context) {
  if (!IsFloat(context.dtype(0)) || !IsScore(context.shape(0))) return InferCounts(context);
  if (!CheckTargets(context)) return {};
  return {{DType::kI64, Shape{kClassRows, 1}}};
}

std::vector<TensorType> InferConfusion(InferContext& context) {
  if (!CheckClasses(context)) return {};
  const Shape shape{context.shape(0)[1], context.shape(0)[1]};
  if (!CountElements(shape)) return context.Fail(shape.ToString() + " is too large");
  return {{DType::kI64, shape}};
}

std::optional<Shape> OnePerClass(const Attributes&, const Shape& sums) {
  if (sums.rank() != 2 || sums[0] != Dim(kClassRows)) return std::nullopt;
  return Shape{sums[1]};
}

std::optional<Shape> MeanOrOnePerClass(const Attributes& attributes, const Shape& sums) {
  const auto shape = OnePerClass(attributes, sums);
  const bool mean = attributes.As<ClassMetricAttributes>().average == "macro";
  return shape && (mean || sums[1] == Dim(1)) ? Shape() : shape;
}

std::optional<Shape> Square(const Attributes&, const Shape& sums) {
  if (sums.rank() != 2 || sums[0] != sums[1]) return std::nullopt;
  return sums;
}

void FinishPerClass(const Attributes&, std::span<const double> sums, int64_t,
                    std::span<double> shown) noexcept {
  for (size_t c = 0; c < shown.size(); ++c) {
    const ClassCounts counts = CountsOf(sums, c);
    shown[c] = counts.actual > 0 ? Recall(counts) : std::numeric_limits<double>::quiet_NaN();
  }
}

// Shows the metric of each class, or their mean. Classes that are neither in the data nor found
// take no part in the mean.
template <double (*kOf)(const ClassCounts&)>
void Finish(const Attributes&, std::span<const double> sums, int64_t,
            std::span<double> shown) noexcept {
  const size_t classes = sums.size() / kClassRows;
  if (shown.size() == classes) {
    for (size_t c = 0; c < classes; ++c) shown[c] = kOf(CountsOf(sums, c));
    return;
  }
  double sum = 0, there = 0;
  for (size_t c = 0; c < classes; ++c) {
    const ClassCounts counts = CountsOf(sums, c);
    if (counts.found + counts.actual == 0) continue;
    sum += kOf(counts);
    ++there;
  }
  shown[0] = Ratio(sum, there);
}

void FinishTable(const Attributes&, std::span<const double> sums, int64_t,
                 std::span<double> shown) noexcept {
  std::copy(sums.begin(), sums.end(), shown.begin());
}

OpCost ClassMetricsCost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

constexpr char kPredicted[] =
    "A sample is found to be of the class with the largest logit, the first of equal ones; where "
    "one is NaN, of none. A sample with a label outside [0, classes) does not count. Where a "
    "sample has a label a place, as an image with a mask, each place counts as a sample. ";

OpDef ClassMetric(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kMetric;
  def.inputs = {{"logits", "[N, classes], or [N, classes, …] for a label a place"},
                {"label", "int32, int64 or uint8, [N] or [N, …]"}};
  def.cost = ClassMetricsCost;
  def.labels = Labels::kClasses;
  def.skips_labels = true;
  return def;
}

// precision, recall, f1.
OpDef AveragedMetric(std::string name, std::string summary, const std::string& formula,
                     const std::string& peer) {
  OpDef def = ClassMetric(
      std::move(name), std::move(summary),
      formula +
          ", of each class; 0 where that is 0 / 0. `average: macro` is the mean over the "
          "classes that some sample is, or is found to be. " +
          std::string(kPredicted) +
          "With one score a sample there is one class, the positive one: scores above `threshold` "
          "find it, targets above 0 are it. The counts are over all samples of a pass, whatever "
          "the batches. " +
          peer);
  def.inputs = {{"logits", "[N, classes], or [N, classes, …]; or scores, [N] or [N, 1]"},
                {"label",
                 "int32, int64 or uint8, [N] or [N, …]; of scores: their shape, and their type, "
                 "bool or an integer type"}};
  def.outputs = {{"counts", "int64 [3, classes]: samples that are right, found and there"}};
  def.schema = &ClassMetricAttributes::Schema();
  def.infer = InferCountsOrScores;
  return def;
}

}  // namespace

OpDef top_k_accuracy() {
  OpDef def = ClassMetric(
      "top_k_accuracy", "Computes the share of samples whose label is among the k largest logits.",
      "As `accuracy` with `top_k`: a label counts where fewer than k classes come before it, those "
      "with a larger logit, or an equal one and a smaller index.");
  def.outputs = {{"correct", "as of accuracy"}};
  def.schema = &TopKAccuracyAttributes::Schema();
  def.infer = InferTopK;
  def.metric = RightLabels();
  def.skips_labels = false;
  return def;
}

OpDef per_class_accuracy() {
  OpDef def =
      ClassMetric("per_class_accuracy",
                  "Computes, for each class, the share of its samples that are predicted right.",
                  std::string("Right samples / samples of the class: its recall. Not a "
                              "number for a class without samples. ") +
                      kPredicted);
  def.outputs = {{"counts", "int64 [3, classes]: samples that are right, found and there"}};
  def.infer = InferCounts;
  def.metric = {.shape = OnePerClass, .finish = FinishPerClass, .caption = "by class"};
  return def;
}

OpDef confusion_matrix() {
  OpDef def = ClassMetric(
      "confusion_matrix", "Counts, for each class, the samples that are predicted as each class.",
      std::string("count[i, j] is the number of samples with label i that are found to be j. ") +
          kPredicted +
          "report.html draws the table, a run prints it above its summary, and summary.json has it "
          "as lists. scikit-learn confusion_matrix.");
  def.outputs = {{"count", "int64 [classes, classes]"}};
  def.infer = InferConfusion;
  def.metric = {.shape = Square,
                .finish = FinishTable,
                .counts = true,
                .caption = "a row a label, a column what it is taken for"};
  return def;
}

OpDef precision() {
  OpDef def =
      AveragedMetric("precision", "Computes the share of predictions of a class that are right.",
                     "Right samples / found samples", "scikit-learn precision_score.");
  def.metric = {.shape = MeanOrOnePerClass, .finish = Finish<Precision>, .caption = "by class"};
  return def;
}

OpDef recall() {
  OpDef def =
      AveragedMetric("recall", "Computes the share of samples of a class that are predicted right.",
                     "Right samples / samples of the class", "scikit-learn recall_score.");
  def.metric = {.shape = MeanOrOnePerClass, .finish = Finish<Recall>, .caption = "by class"};
  return def;
}

OpDef f1() {
  OpDef def = AveragedMetric("f1", "Computes the harmonic mean of precision and recall.",
                             "2·(right samples) / (found samples + samples of the class)",
                             "scikit-learn f1_score.");
  def.metric = {.shape = MeanOrOnePerClass, .finish = Finish<F1>, .caption = "by class"};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
