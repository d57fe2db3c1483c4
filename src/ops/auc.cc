// Defines auc: the area under the ROC curve. It follows from the scores of all samples of a pass,
// or from histograms.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& AucAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<AucAttributes>()
          .Add("bins", &AucAttributes::bins,
               "bins of histograms, for an approximation in less memory; 0: exact")
          .AtLeast(0)
          .AtMost(1 << 20)
          .Add("from_logits", &AucAttributes::from_logits,
               "whether the scores are logits; else they are probabilities, from 0 to 1")
          .Build();
  return schema;
}

namespace {

// The number of a class stands in the last bit.
constexpr uint64_t kPositive = 1;

}  // namespace

double ScoredSample(double score, bool positive) {
  if (std::isnan(score)) return score;
  constexpr double kMost = std::numeric_limits<double>::max();
  const double finite = std::isinf(score) ? std::copysign(kMost, score) : score + 0.0;  // no −0
  return std::bit_cast<double>((std::bit_cast<uint64_t>(finite) & ~kPositive) |
                               (positive ? kPositive : 0));
}

void KeepSamples(std::span<const double> batch, std::span<double> sums) noexcept {
  for (size_t i = 0; i < batch.size(); ++i) sums[i] += batch[i];
}

bool KeepsSamples(OpId op, const Shape& result) {
  return GetOpDef(op).metric.merge == KeepSamples && result.rank() == 1;
}

bool IsApproximate(OpId op, const Attributes& attributes) {
  return op == OpId::auc && attributes.As<AucAttributes>().bins > 0;
}

namespace op_def {
namespace {

// Two logits stand for one score, their difference.
std::vector<TensorType> InferAuc(InferContext& context) {
  const int64_t bins = context.attributes<AucAttributes>().bins;
  const Shape& x = context.shape(0);
  const bool two = x.rank() == 2 && x[1] == Dim(2);
  if (!IsFloat(context.dtype(0)) || (!two && !IsScore(x))) {
    return context.Fail("needs floating-point scores [N], [N, 1] or [N, 2], not " +
                        context.input(0).ToString());
  }
  if (two ? !CheckClasses(context) : !CheckTargets(context)) return {};
  return {{DType::kF64, bins == 0 ? Shape{x[0]} : Shape{2, bins}}};
}

std::optional<Shape> ShapeOf(const Attributes& attributes, const Shape& sums) {
  const int64_t bins = attributes.As<AucAttributes>().bins;
  const bool fits = bins == 0 ? sums.rank() == 1 : sums == Shape{2, bins};
  return fits ? std::optional<Shape>(Shape()) : std::nullopt;
}

// Counts pairs of a positive and a negative sample. Groups of samples are added in the order of
// their scores.
class Pairs {
 public:
  void Add(double negatives, double positives) {
    right_ += positives * (negatives_ + negatives / 2);
    negatives_ += negatives;
    positives_ += positives;
  }
  // The part of them that is in order.
  double Part() const {
    const bool both = positives_ > 0 && negatives_ > 0;
    return both ? right_ / (positives_ * negatives_) : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double right_ = 0, negatives_ = 0, positives_ = 0;
};

// `samples` are ScoredSample() values in ascending order; equal scores are adjacent.
double OfSamples(std::span<const double> samples) {
  if (!samples.empty() && std::isnan(samples.back())) return samples.back();
  const auto bits = [&](size_t i) { return std::bit_cast<uint64_t>(samples[i]); };
  Pairs pairs;
  for (size_t i = 0; i < samples.size();) {
    double counts[2] = {0, 0};
    const uint64_t score = bits(i) & ~kPositive;
    for (; i < samples.size() && (bits(i) & ~kPositive) == score; ++i)
      ++counts[bits(i) & kPositive];
    pairs.Add(counts[0], counts[kPositive]);
  }
  return pairs.Part();
}

void Finish(const Attributes& attributes, std::span<const double> sums, int64_t,
            std::span<double> shown) noexcept {
  if (attributes.As<AucAttributes>().bins == 0) {
    shown[0] = OfSamples(sums);
    return;
  }
  const size_t bins = sums.size() / 2;
  Pairs pairs;
  for (size_t b = 0; b < bins; ++b) pairs.Add(sums[b], sums[bins + b]);
  shown[0] = pairs.Part();
}

OpCost AucCost(const NodeSignature& node) { return {4 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef auc() {
  OpDef def;
  def.name = "auc";
  def.summary = "Computes the area under the ROC curve of two classes.";
  def.details =
      "The part of all pairs of a positive and a negative sample in which the positive one has the "
      "larger score; a pair of equal scores counts half. It is exact for scores of f32 and smaller "
      "types. A "
      "score of f64 loses its last bit, so that scores that differ there alone count as equal, and "
      "a "
      "difference of two logits is rounded to 52 bits, too. A run keeps the scores of a "
      "pass, which takes 24 bytes for each sample that is trained on and 8 for each that is "
      "evaluated, and the plan counts them. With `bins` it is an approximation, shown with a ≈, "
      "in 16 bytes a bin whatever the number of samples: scores are counted in bins, and a pair in "
      "one bin counts half, so that it is wrong by at most half the part of such pairs. Bins are "
      "equally wide over 0 to 1: of probabilities, and of logits x as 1/2 + x / (2 + 2|x|). A "
      "target above 0 is positive; of [N, 2] the score is the second logit less the first, and "
      "label 1 is positive. Not a number without samples of both classes, or where a score is NaN. "
      "scikit-learn roc_auc_score.";
  def.usage = Usage::kMetric;
  def.inputs = {{"scores", "[N], [N, 1], or the logits of two classes, [N, 2]"},
                {"target",
                 "shape of the scores, and their type, bool or an integer type; of two "
                 "logits: labels [N]"}};
  def.outputs = {
      {"samples",
       "f64 [N]: scores, in whose last bits the classes stand; with `bins` f64 [2, bins]: "
       "histograms of negative and positive samples"}};
  def.schema = &AucAttributes::Schema();
  def.infer = InferAuc;
  def.cost = AucCost;
  def.metric = {.shape = ShapeOf, .finish = Finish, .merge = KeepSamples};
  def.labels = Labels::kClasses;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
