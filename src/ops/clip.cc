// Defines clip and its gradient, which needs the output alone.
#include "src/ops/clip.h"

#include "src/ops/builders.h"
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

std::vector<TensorType> InferClip(InferContext& context) {
  const auto& attributes = context.attributes<ClipAttributes>();
  if (attributes.min > attributes.max) {
    return context.Fail("`min` " + ToString(AttributeValue(attributes.min)) +
                        " is more than `max` " + ToString(AttributeValue(attributes.max)));
  }
  return InferSameAsInputs(context);
}

}  // namespace

OpDef clip() {
  OpDef def = ElementwiseOp({"clip", "Keeps each element within bounds.",
                             "y = min where x < min, max where x > max, else x; a NaN stays a NaN. "
                             "The bounds are rounded "
                             "to the type of x. ONNX Clip."},
                            GradientFromResult<OpId::clip_grad>);
  def.schema = &ClipAttributes::Schema();
  def.infer = InferClip;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef clip_grad() {
  OpDef def = ElementwiseGradOp(
      "clip", "y",
      "dx = dy where min < y < max, else 0: none flows at a bound, as in PyTorch's hardtanh, nor "
      "for NaN. A side without a bound lets infinity through.");
  def.schema = &ClipAttributes::Schema();
  def.infer = InferClip;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
