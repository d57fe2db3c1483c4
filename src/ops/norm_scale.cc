// Defines norm_scale: the factor that brings several gradients under a norm together. Pascanu,
// Mikolov and Bengio, "On the difficulty of training recurrent neural networks", ICML 2013.
#include "src/ops/norm_scale.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& NormScaleAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<NormScaleAttributes>()
          .Add("norm", &NormScaleAttributes::norm, "the largest norm of all inputs together")
          .Internal()
          .AtLeast(0)
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferNormScale(InferContext& context) {
  for (int i = 0; i < context.num_inputs(); ++i) {
    if (IsFloat(context.dtype(i)) && context.dtype(i) == context.dtype(0)) continue;
    return context.Fail("needs tensors of one floating-point type, not " +
                        context.input(i).ToString());
  }
  return {{context.dtype(0), Shape()}};
}

OpCost NormScaleCost(const NodeSignature& node) {
  int64_t elements = 0;
  for (const TensorType& type : node.inputs) elements += type.shape.Elements();
  return {2 * elements};
}

}  // namespace

OpDef norm_scale() {
  OpDef def;
  def.name = "norm_scale";
  def.summary = "Computes the factor that brings tensors under a norm together.";
  def.details =
      "y = min(1, norm / (‖x‖ + 1e-6)), where ‖x‖ is the root of the sum of the squares of all "
      "elements of all inputs. Added up in f64, input after input; NaN where an element is NaN. "
      "PyTorch clip_grad_norm_.";
  def.inputs = {{"x", "tensors of one floating-point type", Arity::kVariadic}};
  def.outputs = {{"y", "a scalar of their type"}};
  def.schema = &NormScaleAttributes::Schema();
  def.infer = InferNormScale;
  def.cost = NormScaleCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
