// auc: the area under the ROC curve, from histograms of the scores of both classes.
#include <limits>

#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& AucAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<AucAttributes>()
          .Add("bins", &AucAttributes::bins, "bins of the histograms")
          .AtLeast(2)
          .AtMost(1 << 20)
          .Add("from_logits", &AucAttributes::from_logits,
               "whether the scores are logits; else they are probabilities, from 0 to 1")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Two logits stand for one score, their difference.
std::vector<TensorType> Infer(InferContext& context) {
  const int64_t bins = context.attributes<AucAttributes>().bins;
  const Shape& x = context.shape(0);
  const bool two = x.rank() == 2 && x[1] == Dim(2);
  if (!IsFloat(context.dtype(0)) || (!two && !IsScore(x))) {
    return context.Fail("needs floating-point scores [N], [N, 1] or [N, 2], not " +
                        context.input(0).ToString());
  }
  if (two ? !CheckClasses(context) : !CheckTargets(context)) return {};
  return {{DType::kF64, Shape{2, bins}}};
}

std::optional<Shape> ShapeOf(const Attributes& attributes, const Shape& sums) {
  if (sums != Shape{2, attributes.As<AucAttributes>().bins}) return std::nullopt;
  return Shape();
}

void Finish(const Attributes&, std::span<const double> sums, int64_t,
            std::span<double> shown) noexcept {
  const size_t bins = sums.size() / 2;
  double pairs = 0, negatives = 0, positives = 0;
  for (size_t b = 0; b < bins; ++b) {
    const double negative = sums[b], positive = sums[bins + b];
    pairs += positive * (negatives + negative / 2);
    negatives += negative;
    positives += positive;
  }
  const bool both = positives > 0 && negatives > 0;
  shown[0] = both ? pairs / (positives * negatives) : std::numeric_limits<double>::quiet_NaN();
}

OpCost Cost(const NodeSignature& node) { return {4 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef auc() {
  OpDef def;
  def.name = "auc";
  def.summary = "Area under the ROC curve of two classes.";
  def.details =
      "The part of all pairs of a positive and a negative sample in which the positive one has the "
      "larger score. An approximation: scores are counted in `bins` bins, and a pair in one bin "
      "counts half, so that it is wrong by at most half the part of such pairs, and exact where no "
      "bin has samples of both classes. Bins are equally wide over 0 to 1: of probabilities, and "
      "of logits x as 1/2 + x / (2 + 2|x|). A target above 0 is positive; of [N, 2] the score is "
      "the second logit less the first, and label 1 is positive. Not a number without samples of "
      "both classes, or where a score is NaN. scikit-learn roc_auc_score.";
  def.usage = Usage::kMetric;
  def.inputs = {{"scores", "[N], [N, 1], or the logits of two classes, [N, 2]"},
                {"target",
                 "shape of the scores, and their type, bool or an integer type; of two "
                 "logits: labels [N]"}};
  def.outputs = {{"histograms", "f64 [2, bins]: of negative and positive samples"}};
  def.schema = &AucAttributes::Schema();
  def.infer = Infer;
  def.cost = Cost;
  def.metric = {.shape = ShapeOf, .finish = Finish};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
