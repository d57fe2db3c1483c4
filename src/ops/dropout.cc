// Defines dropout. The choice of elements is a pure function of key, step and element. Order,
// planner, mode and resume therefore do not change it. Its gradient is dropout of the gradient, so
// that no mask is kept for the backward pass.
#include "src/ops/dropout.h"

#include "src/ir/range_text.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& DropoutAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<DropoutAttributes>()
          .Add("rate", &DropoutAttributes::rate,
               "probability with which an element becomes 0, less than 1")
          .AtLeast(0)
          .AtMost(kBelowOne)
          .Add("key", &DropoutAttributes::key, "key of the random numbers")
          .Internal()
          .Add("training", &DropoutAttributes::training, "whether anything is dropped")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferDropout(InferContext& context) {
  std::vector<TensorType> types = InferSameAsInput(context);
  if (context.failed() || !context.attributes<DropoutAttributes>().training) return types;
  if (context.num_inputs() < 2 || context.input(1) != TensorType{DType::kI64, Shape()}) {
    return context.Fail("needs the step counter, an int64 scalar, as its second input");
  }
  return types;
}

void DropoutGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0);
  if (!context.attributes<DropoutAttributes>().training) return context.SetInputGradient(0, dy);
  context.SetInputGradient(
      0, context.Emit(OpId::dropout, context.node().attributes, {dy, context.input(1)}, "grad"));
}

}  // namespace

OpDef dropout() {
  OpDef def;
  def.name = "dropout";
  def.summary = "Sets random elements to 0 while training.";
  def.details =
      "Training: y = x / (1 - rate) with probability 1 - rate, else 0 (for a NaN, too). "
      "Evaluation: y = x. The choice depends on the run's seed, the operator's name, the step and "
      "the element alone. ONNX Dropout.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any shape"}, {"step", "step counter, when training", Arity::kOptional}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &DropoutAttributes::Schema();
  def.infer = InferDropout;
  def.gradient = DropoutGradient;
  def.in_place = {{0, 0}};
  def.needs_step = true;
  def.narrow = Narrow::kFollows;
  def.idle = [](const Attributes& a) { return !a.As<DropoutAttributes>().training; };
  return def;
}

}  // namespace op_def
}  // namespace cgrun
