// Defines log_softmax along one axis and its gradient, which needs the output alone.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"
#include "src/ops/softmax.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferLogSoftmax(InferContext& context) {
  const int64_t axis = context.attributes<SoftmaxAttributes>().axis;
  if (!NormalizeAxis(axis, context.shape(0).rank())) {
    return context.Fail(AxesMessage({axis}, context.shape(0)));
  }
  return InferSameAsInputs(context);
}

void LogSoftmaxGradient(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(OpId::log_softmax_grad, context.node().attributes,
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}

// Each element takes a maximum, two differences, an exponential and a sum.
OpCost LogSoftmaxCost(const NodeSignature& node) { return {5 * node.outputs[0].shape.Elements()}; }
// Each element takes a sum, an exponential, a product and a difference.
OpCost LogSoftmaxGradCost(const NodeSignature& node) {
  return {4 * node.outputs[0].shape.Elements()};
}

}  // namespace

OpDef log_softmax() {
  OpDef def;
  def.name = "log_softmax";
  def.summary = "Computes the logarithms of normalised exponentials along an axis.";
  def.details =
      "y = (x - max x) - ln Σ e^(x - max x) along `axis`, computed in f64 and rounded once. Where "
      "one x is NaN or +inf, or all are -inf, the whole group is NaN. ONNX LogSoftmax.";
  def.usage = Usage::kOperator;
  def.activation = true;
  def.inputs = {{"x", "any shape that has the axis"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &SoftmaxAttributes::Schema();
  def.infer = InferLogSoftmax;
  def.gradient = LogSoftmaxGradient;
  def.cost = LogSoftmaxCost;
  def.in_place = {{0, 0}};
  return def;
}

OpDef log_softmax_grad() {
  OpDef def;
  def.name = "log_softmax_grad";
  def.summary = "Computes the gradient of log_softmax.";
  def.details = "dx = dy - e^y·Σ dy, the sum along `axis`, computed in f64 and rounded once.";
  def.inputs = {{"y", "output of log_softmax"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &SoftmaxAttributes::Schema();
  def.infer = InferLogSoftmax;
  def.cost = LogSoftmaxGradCost;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace cgrun::op_def
