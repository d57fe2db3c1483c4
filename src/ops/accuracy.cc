// Defines accuracy: how many samples a classifier gets right.
#include <optional>
#include <span>
#include <vector>

#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& AccuracyAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<AccuracyAttributes>()
          .Add("top_k", &AccuracyAttributes::top_k,
               "a sample counts if its label is among this many classes of largest logits")
          .AtLeast(1)
          .Add("ignore_label", &AccuracyAttributes::ignore_label,
               "a label, or a list of labels, that do not count, right or wrong")
          .Build();
  return schema;
}

namespace {

// Shows one number. The sums begin with the number of right labels. If a sample has several labels,
// or if some are ignored, the number of all that count follows.
std::optional<Shape> ShownShape(const Attributes&, const Shape& sums) {
  const bool known = sums == Shape() || sums == Shape{2};
  return known ? std::optional<Shape>(Shape()) : std::nullopt;
}

void Finish(const Attributes&, std::span<const double> sums, int64_t samples,
            std::span<double> shown) noexcept {
  const double labels = sums.size() == 2 ? sums[1] : static_cast<double>(samples);
  shown[0] = labels > 0 ? sums[0] / labels : 0;
}

}  // namespace

Shape RightLabelsShape(const Shape& logits, bool some_ignored) {
  return logits.rank() == 2 && !some_ignored ? Shape() : Shape{2};
}

MetricDef RightLabels() {
  MetricDef metric;
  metric.shape = ShownShape;
  metric.finish = Finish;
  return metric;
}

namespace op_def {
namespace {

std::vector<TensorType> InferAccuracy(InferContext& context) {
  if (!CheckClasses(context)) return {};
  const Shape& logits = context.shape(0);
  const auto& [top_k, ignored] = context.attributes<AccuracyAttributes>();
  if (top_k > logits[1].size) {
    return context.Fail("`top_k` " + std::to_string(top_k) + " is more than the " +
                        std::to_string(logits[1].size) + " classes");
  }
  return {{DType::kI64, RightLabelsShape(logits, !ignored.empty())}};
}

OpCost AccuracyCost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef accuracy() {
  OpDef def;
  def.name = "accuracy";
  def.summary = "Counts the labels that are among the largest logits.";
  def.details =
      "correct counts the labels before which fewer than top_k classes come: those "
      "with a larger logit, or an equal one and a smaller index. A NaN comes before every number; "
      "a label whose logit is NaN, or that is outside [0, classes), is never right. Of samples "
      "with a label a place, as sequences have, and with `ignore_label`, it is followed by the "
      "number of labels that count: all, or those that are not ignored. The accuracy is the right "
      "part of these over a pass, and 0 where there are none.";
  def.usage = Usage::kMetric;
  def.inputs = {{"logits", "[N, classes], or [N, classes, …] for a label a place"},
                {"label", "int32, int64 or uint8, [N] or [N, …]"}};
  def.outputs = {
      {"correct",
       "int64 scalar: divided by the samples it is the accuracy; [correct, labels] where "
       "a sample has several labels, or some are ignored"}};
  def.metric = RightLabels();
  def.schema = &AccuracyAttributes::Schema();
  def.infer = InferAccuracy;
  def.cost = AccuracyCost;
  def.labels = Labels::kClasses;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
