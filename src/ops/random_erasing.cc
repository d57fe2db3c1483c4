// Defines random_erasing, which paints over a part of some samples. The choice of the part is a
// pure function of key, step and sample. The operator is therefore its own gradient, with zeros.
#include "src/ops/random_erasing.h"

#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& RandomErasingAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RandomErasingAttributes>()
          .Add("probability", &RandomErasingAttributes::probability,
               "probability with which something of a sample is erased")
          .AtLeast(0)
          .AtMost(1)
          .Add("scale", &RandomErasingAttributes::scale,
               "part of the image's area that is erased: `[least, most]`")
          .Add("ratio", &RandomErasingAttributes::ratio,
               "width of what is erased divided by its height: `[least, most]`")
          .Add("value", &RandomErasingAttributes::value, "what stands there then")
          .Add("key", &RandomErasingAttributes::key, "key of the random numbers")
          .Internal()
          .Add("varied", &RandomErasingAttributes::varied, "whether anything is erased")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferRandomErasing(InferContext& context) {
  const auto& a = context.attributes<RandomErasingAttributes>();
  if (!ExpectImages(context, "random_erasing", context.shape(0)) || !ExpectPixels(context) ||
      !ExpectPixelValue(context, "value", a.value)) {
    return {};
  }
  const std::string fault = FaultOfBoxRange(a.scale, a.ratio);
  if (!fault.empty()) return context.Fail(fault);
  if (!ExpectStep(context)) return {};
  return {context.input(0)};
}

void RandomErasingGradient(GradientContext& context) {
  if (!IsFloat(context.input_type(0).dtype)) return;
  RandomErasingAttributes attributes = context.attributes<RandomErasingAttributes>();
  attributes.value = 0;
  context.SetInputGradient(0, context.Emit(OpId::random_erasing, Attributes::Of(attributes),
                                           {context.output_gradient(0), context.input(1)}, "dx"));
}

}  // namespace

OpDef random_erasing() {
  OpDef def;
  def.name = "random_erasing";
  def.summary = "Paints over a random part of some images while training.";
  def.details =
      "While training, with `probability`, a part of a sample becomes `value` in all its channels: "
      "its area is a part of the image's from `scale`, equally likely, its width divided by its "
      "height from `ratio`, equally likely in the logarithm, its place is any; where ten that are "
      "drawn do not fit, nothing is erased. Each sample draws its own at each step, in paths of "
      "mode `forward` too. In evaluation y = x. What is drawn depends on the run's seed, the "
      "operator's name, the step and the place in the batch alone (Philox4x32-10). torchvision "
      "RandomErasing.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], uint8 or floating-point"},
                {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "shape and type of x"}};
  def.schema = &RandomErasingAttributes::Schema();
  def.infer = InferRandomErasing;
  def.gradient = RandomErasingGradient;
  def.cost = NoOperations;
  def.in_place = {{0, 0}};
  def.needs_step = true;
  def.moves = Moves::kWithin;
  def.draws_places = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
