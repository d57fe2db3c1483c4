// Losses and metrics, whose operands are scores and labels.
#include <algorithm>

#include "src/ir/op_def.h"
#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "tests/support/random_operators.h"

namespace cgrun {
namespace {

const std::vector<OpId>& LossesOfTwo() {
  static const std::vector<OpId> losses = {OpId::squared_error,
                                           OpId::absolute_error,
                                           OpId::binary_cross_entropy,
                                           OpId::hinge,
                                           OpId::huber,
                                           OpId::smooth_l1,
                                           OpId::ranking,
                                           OpId::r2,
                                           OpId::mean_absolute_error,
                                           OpId::mean_squared_error};
  return losses;
}

}  // namespace

ValueId RandomOperators::LabelsFor(ValueId logits) {
  const Dim rows = ShapeOf(logits)[0];
  const ValueId known = graph_.FindValue(rows.batch ? "labels" : "fixed_labels");
  if (known.valid() && ShapeOf(known) == Shape{rows}) return known;
  return builder_.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, {rows}},
                            rows.batch ? "labels" : "fixed_labels");
}

bool RandomOperators::EmitScalarOfTwo() {
  const ValueId x = AnyMatrix();
  if (!x.valid()) return false;
  if (dice_.OneIn(2)) {
    const OpId loss = dice_.Of(LossesOfTwo());
    Attributes attributes = Attributes::Defaults(*GetOpDef(loss).schema);
    if (loss == OpId::binary_cross_entropy && dice_.OneIn(4)) {
      attributes = Attributes::Of(BinaryCrossEntropyAttributes{false});
    }
    return TryEmit(loss, attributes, {x, AnyValueOfShape(ShapeOf(x))});
  }
  if (ShapeOf(x).rank() != 2 || ShapeOf(x)[1].batch || ShapeOf(x)[1].size < 3) return false;
  if (dice_.OneIn(2)) {
    SoftmaxCrossEntropyAttributes attributes;
    if (dice_.OneIn(3)) attributes.class_weights.resize(static_cast<size_t>(ShapeOf(x)[1].size), 2);
    if (dice_.OneIn(3)) attributes.ignore_label = {1, -1};
    return TryEmit(OpId::softmax_cross_entropy, Attributes::Of(attributes), {x, LabelsFor(x)});
  }
  static const std::vector<OpId> metrics = {OpId::accuracy,         OpId::per_class_accuracy,
                                            OpId::confusion_matrix, OpId::precision,
                                            OpId::recall,           OpId::f1};
  const OpId metric = dice_.Of(metrics);
  Attributes attributes = Attributes::Defaults(*GetOpDef(metric).schema);
  if (metric == OpId::accuracy && dice_.OneIn(3)) {
    attributes = Attributes::Of(AccuracyAttributes{1, {1}});
  }
  return TryEmit(metric, attributes, {x, LabelsFor(x)});
}

bool RandomOperators::EmitScores() {
  const ValueId x = AnyMatrix();
  if (!x.valid() || ShapeOf(x)[1].batch) return false;
  if (dice_.OneIn(2)) {
    const TopKAccuracyAttributes top{std::min<int64_t>(2, ShapeOf(x)[1].size)};
    return TryEmit(OpId::top_k_accuracy, Attributes::Of(top), {x, LabelsFor(x)});
  }
  const ValueId scores = AnyValueWhere([&](ValueId id) { return IsScore(ShapeOf(id)); });
  if (!scores.valid()) return false;
  return TryEmit(OpId::auc, Attributes::Of(AucAttributes{6}),
                 {scores, AnyValueOfShape(ShapeOf(scores))});
}

}  // namespace cgrun
