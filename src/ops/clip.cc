// clip and its gradient, which needs the output alone.
#include "src/ops/clip.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& ClipAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ClipAttributes>()
          .Add("min", &ClipAttributes::min, "smallest value of y; no bound if it is not given")
          .Add("max", &ClipAttributes::max, "largest value of y; no bound if it is not given")
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> Infer(InferContext& context) {
  const auto& attributes = context.attributes<ClipAttributes>();
  if (attributes.min > attributes.max) {
    return context.Fail("`min` " + ToString(AttributeValue(attributes.min)) +
                        " is more than `max` " + ToString(AttributeValue(attributes.max)));
  }
  return InferSameAsInputs(context);
}

void Gradient(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(OpId::clip_grad, context.node().attributes,
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}

}  // namespace

OpDef clip() {
  OpDef def;
  def.name = "clip";
  def.summary = "Keeps each element within bounds.";
  def.details =
      "y = min where x < min, max where x > max, else x; a NaN stays a NaN. The bounds are rounded "
      "to the type of x. ONNX Clip.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any shape"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &ClipAttributes::Schema();
  def.infer = Infer;
  def.gradient = Gradient;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef clip_grad() {
  OpDef def;
  def.name = "clip_grad";
  def.summary = "Gradient of clip.";
  def.details =
      "dx = dy where min < y < max, else 0: none flows at a bound, as in PyTorch's hardtanh, nor "
      "for NaN. A side without a bound lets infinity through.";
  def.inputs = {{"y", "output of clip"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &ClipAttributes::Schema();
  def.infer = Infer;
  def.in_place = {{1, 0}, {0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
