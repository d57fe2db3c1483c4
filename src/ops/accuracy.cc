// accuracy: how many samples a classifier gets right.
#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& AccuracyAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<AccuracyAttributes>()
          .Add("top_k", &AccuracyAttributes::top_k,
               "a sample counts if its label is among this many classes of largest logits")
          .AtLeast(1)
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) {
  const Shape& logits = context.shape(0);
  if (!IsFloat(context.dtype(0)) || logits.rank() != 2 || logits[1].batch) {
    return context.Fail("needs floating-point logits [N, classes], not " +
                        context.input(0).ToString());
  }
  const bool index = IsIndex(context.dtype(1));
  if (!index || context.shape(1) != Shape{logits[0]}) {
    return context.Fail("needs labels of an integer type and of shape " +
                            Shape{logits[0]}.ToString() + ", not " + context.input(1).ToString(),
                        "a label is the index of a class; its placeholder has shape []");
  }
  const int64_t top_k = context.attributes<AccuracyAttributes>().top_k;
  if (top_k > logits[1].size) {
    return context.Fail("`top_k` " + std::to_string(top_k) + " is more than the " +
                        std::to_string(logits[1].size) + " classes");
  }
  return {{DType::kI64, Shape()}};
}

OpCost Cost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef accuracy() {
  OpDef def;
  def.name = "accuracy";
  def.summary = "Number of samples whose label is among the largest logits.";
  def.details =
      "correct counts the samples for which fewer than top_k classes come before the label: those "
      "with a larger logit, or an equal one and a smaller index. A NaN comes before every number; "
      "a "
      "label whose logit is NaN, or that is outside [0, classes), is never right.";
  def.usage = Usage::kMetric;
  def.inputs = {{"logits", "[N, classes]"}, {"label", "int32, int64 or uint8, [N]"}};
  def.outputs = {{"correct", "int64 scalar: divided by the samples it is the accuracy"}};
  def.schema = &AccuracyAttributes::Schema();
  def.infer = Infer;
  def.cost = Cost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
