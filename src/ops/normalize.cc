// Defines normalize, which applies scale, mean and deviation to input data, from any number type to
// a floating-point one.
#include "src/ops/normalize.h"

#include <cmath>

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& NormalizeAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<NormalizeAttributes>()
          .Add("scale", &NormalizeAttributes::scale, "factor that comes first: 1/255 for bytes")
          .Add("mean", &NormalizeAttributes::mean,
               "what is subtracted: one number, or one a channel (axis 1)")
          .Add("std", &NormalizeAttributes::std,
               "what is divided by: one number, or one a channel (axis 1)")
          .Add("dtype", &NormalizeAttributes::dtype, "number type of y, a floating-point one")
          .Build();
  return schema;
}

namespace op_def {
namespace {

bool CheckChannels(InferContext& context, const std::string& name, const RealList& values) {
  const Shape& x = context.shape(0);
  const auto count = static_cast<int64_t>(values.size());
  const bool a_channel = x.rank() >= 2 && x[1] == Dim(count);
  if (count != 1 && !a_channel) {
    context.Fail("`" + name + "` has " + std::to_string(count) + " numbers, which do not fit " +
                     x.ToString(),
                 "give one number, or one a channel (axis 1)");
  }
  return !context.failed();
}

std::vector<TensorType> InferNormalize(InferContext& context) {
  const auto& attributes = context.attributes<NormalizeAttributes>();
  if (!IsFloat(attributes.dtype)) {
    return context.Fail("`dtype` must be a floating-point type, not " +
                        std::string(Name(attributes.dtype)));
  }
  if (!CheckChannels(context, "mean", attributes.mean)) return {};
  if (!CheckChannels(context, "std", attributes.std)) return {};
  for (double std : attributes.std) {
    if (std == 0 || !std::isfinite(1 / std)) return context.Fail("`std` must not be 0");
  }
  return {{attributes.dtype, context.shape(0)}};
}

// The derivative is scale/std: normalize without a mean.
void NormalizeGradient(GradientContext& context) {
  const DType from = context.input_type(0).dtype;
  if (!IsFloat(from)) return;
  NormalizeAttributes attributes = context.attributes<NormalizeAttributes>();
  attributes.mean = {0};
  attributes.dtype = from;
  context.SetInputGradient(0, context.Emit(OpId::normalize, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "dx"));
}

OpCost NormalizeCost(const NodeSignature& node) { return {3 * node.outputs[0].shape.Elements()}; }

}  // namespace

OpDef normalize() {
  OpDef def;
  def.name = "normalize";
  def.summary = "Brings input data to zero mean and unit deviation.";
  def.details =
      "y = (x·scale - mean) / std, computed in f64 and rounded once. ONNX: Cast, Mul, Sub, Div.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor of any number type; channels are axis 1"}};
  def.outputs = {{"y", "shape of x, of type `dtype`"}};
  def.schema = &NormalizeAttributes::Schema();
  def.infer = InferNormalize;
  def.gradient = NormalizeGradient;
  def.cost = NormalizeCost;
  def.in_place = {{0, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
