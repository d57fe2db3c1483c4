// Defines softmax_cross_entropy and its gradient: the loss of a classifier, from its logits.
#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"
#include "src/ops/softmax.h"

namespace cgrun {

const AttributeSchema& SoftmaxCrossEntropyAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<SoftmaxCrossEntropyAttributes>()
          .Add("label_smoothing", &SoftmaxCrossEntropyAttributes::label_smoothing,
               "part of the target that is spread evenly over all classes")
          .AtLeast(0)
          .AtMost(1)
          .Add("class_weights", &SoftmaxCrossEntropyAttributes::class_weights,
               "a weight for each class, in the order of the labels; none: 1 each")
          .AtLeast(0)
          .Add("ignore_label", &SoftmaxCrossEntropyAttributes::ignore_label,
               "a label, or a list of labels, that add nothing to the loss")
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Checks logits [N, C, …] (input 0) and labels [N, …] (input 1).
bool CheckLogits(InferContext& context) {
  const Shape& logits = context.shape(0);
  if (!IsFloat(context.dtype(0)) || logits.rank() < 2 || logits[1].batch) {
    context.Fail("needs floating-point logits [N, classes], not " + context.input(0).ToString());
    return false;
  }
  Shape::Dims wanted = logits.dims();
  wanted.erase(wanted.begin() + 1);
  const size_t weights = context.attributes<SoftmaxCrossEntropyAttributes>().class_weights.size();
  if (weights != 0 && static_cast<int64_t>(weights) != logits[1].size) {
    context.Fail("`class_weights` has " + std::to_string(weights) + " weights for " +
                 std::to_string(logits[1].size) + " classes");
    return false;
  }
  const bool index = IsIndex(context.dtype(1));
  if (index && context.shape(1) == Shape(wanted)) return true;
  context.Fail("needs labels of an integer type and of shape " + Shape(wanted).ToString() +
                   ", not " + context.input(1).ToString(),
               logits.rank() == 2 ? "a label is the index of a class; its placeholder has shape []"
                                  : "logits of more than two axes have the classes in their second "
                                    "one, and a label for each place; for a label a sample put "
                                    "`flatten` before `linear`");
  return false;
}

std::vector<TensorType> InferSoftmaxCrossEntropy(InferContext& context) {
  if (!CheckLogits(context)) return {};
  return {{LossType(context.dtype(0)), Shape()}, context.input(0)};
}

// The probabilities are an output like any other. A gradient that flows into them flows on.
void SoftmaxCrossEntropyGradient(GradientContext& context) {
  ValueId sum;
  if (context.output_gradient(0).valid()) {
    sum = context.Emit(OpId::softmax_cross_entropy_grad, context.node().attributes,
                       {context.output(1), context.input(1), context.output_gradient(0)}, "grad");
  }
  if (context.output_gradient(1).valid()) {
    const ValueId through =
        context.Emit(OpId::softmax_grad, Attributes::Of(SoftmaxAttributes{1}),
                     {context.output(1), context.output_gradient(1)}, "probabilities.grad");
    sum = sum.valid() ? context.Emit(OpId::add, Attributes(), {sum, through}, "grad_sum") : through;
  }
  context.SetInputGradient(0, sum);
}

std::vector<TensorType> InferSoftmaxCrossEntropyGrad(InferContext& context) {
  if (!CheckLogits(context)) return {};
  if (context.input(2) != TensorType{LossType(context.dtype(0)), Shape()}) {
    return context.Fail("needs a scalar gradient of the loss, not " + context.input(2).ToString());
  }
  return {context.input(0)};
}

OpCost SoftmaxCrossEntropyCost(const NodeSignature& node) {
  return {5 * node.inputs[0].shape.Elements()};
}
OpCost SoftmaxCrossEntropyGradCost(const NodeSignature& node) {
  return {2 * node.inputs[0].shape.Elements()};
}

}  // namespace

OpDef softmax_cross_entropy() {
  OpDef def;
  def.name = "softmax_cross_entropy";
  def.summary = "Computes the cross-entropy of softmax(logits) against class labels.";
  def.details =
      "loss = mean over all labels of -Σ_c w_c·t_c·ln p_c, where p = softmax(logits) along axis 1, "
      "t is 1 - label_smoothing for the label plus label_smoothing / classes for every class, and "
      "w is `class_weights`. The mean is over the labels, whatever their weights, so that it does "
      "not depend on how samples fall into batches: with weights it is PyTorch's sum divided by "
      "the number of labels, where PyTorch's mean divides by the sum of the labels' weights. A "
      "label of `ignore_label`, which need be no class, adds 0 and has a gradient of 0; it is "
      "one of the labels that the mean divides by all the same, for the same reason, where "
      "PyTorch's mean (`ignore_index`) divides by those that are left. "
      "Computed in f64 and rounded once; the loss of bf16 logits is f32. Any other label outside "
      "[0, classes) makes the loss NaN, and its gradient. "
      "PyTorch CrossEntropyLoss; ONNX SoftmaxCrossEntropyLoss.";
  def.usage = Usage::kLoss;
  def.inputs = {{"logits", "[N, classes], or [N, classes, …] for a label a position"},
                {"label", "int32, int64 or uint8, [N] or [N, …]"}};
  def.outputs = {{"loss", "scalar"}, {"probabilities", "softmax(logits), shape of the logits"}};
  def.schema = &SoftmaxCrossEntropyAttributes::Schema();
  def.infer = InferSoftmaxCrossEntropy;
  def.gradient = SoftmaxCrossEntropyGradient;
  def.cost = SoftmaxCrossEntropyCost;
  def.in_place = {{0, 1}};
  def.labels = Labels::kClasses;
  def.applies = [](const Attributes&) { return std::optional(OpId::softmax); };
  return def;
}

OpDef softmax_cross_entropy_grad() {
  OpDef def;
  def.name = "softmax_cross_entropy_grad";
  def.summary = "Computes the gradient of softmax_cross_entropy.";
  def.details =
      "dlogits_c = (p_c·Σ_k w_k·t_k - w_c·t_c)·dloss / (number of labels); 0 for labels that are "
      "ignored, NaN for others out of range.";
  def.inputs = {{"probabilities", "output of softmax_cross_entropy"},
                {"label", "its labels"},
                {"dloss", "gradient of the loss, a scalar"}};
  def.outputs = {{"dlogits", "gradient of the logits"}};
  def.schema = &SoftmaxCrossEntropyAttributes::Schema();
  def.infer = InferSoftmaxCrossEntropyGrad;
  def.cost = SoftmaxCrossEntropyGradCost;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
