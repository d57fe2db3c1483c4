// Defines softmax along one axis and its gradient, which needs the output alone.
#include "src/ops/softmax.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& SoftmaxAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<SoftmaxAttributes>()
          .Add("axis", &SoftmaxAttributes::axis,
               "axis whose elements sum to 1, the batch axis being 0; negative ones count from the "
               "last")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferSoftmax(InferContext& context) {
  const int64_t axis = context.attributes<SoftmaxAttributes>().axis;
  if (!NormalizeAxis(axis, context.shape(0).rank())) {
    return context.Fail(AxesMessage({axis}, context.shape(0)));
  }
  return InferSameAsInputs(context);
}

void SoftmaxGradient(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(OpId::softmax_grad, context.node().attributes,
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}

// Each element takes a maximum, a difference, an exponential, a sum and a quotient.
OpCost SoftmaxCost(const NodeSignature& node) { return {5 * node.outputs[0].shape.Elements()}; }
OpCost SoftmaxGradCost(const NodeSignature& node) { return {4 * node.outputs[0].shape.Elements()}; }

}  // namespace

OpDef softmax() {
  OpDef def;
  def.name = "softmax";
  def.summary = "Computes normalised exponentials along an axis.";
  def.details =
      "y = e^(x - max x) / Σ e^(x - max x) along `axis`, computed in f64 and rounded once. Where "
      "one x is NaN or +inf, or all are -inf, the whole group is NaN. ONNX Softmax.";
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape that has the axis"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &SoftmaxAttributes::Schema();
  def.infer = InferSoftmax;
  def.gradient = SoftmaxGradient;
  def.cost = SoftmaxCost;
  def.in_place = {{0, 0}};
  def.bounded = true;
  return def;
}

OpDef softmax_grad() {
  OpDef def;
  def.name = "softmax_grad";
  def.summary = "Computes the gradient of softmax.";
  def.details = "dx = y·(dy - Σ dy·y), the sum along `axis`, computed in f64 and rounded once.";
  def.inputs = {{"y", "output of softmax"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &SoftmaxAttributes::Schema();
  def.infer = InferSoftmax;
  def.cost = SoftmaxGradCost;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
