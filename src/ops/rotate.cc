// Defines rotate and random_rotate, which turn images about their middle, and their gradients. The
// angle is a pure function of key, step and sample, so that the gradient finds it again.
#include "src/ops/rotate.h"

#include "src/base/random.h"
#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

constexpr char kFillDoc[] = "what stands where nothing of the image is";

}  // namespace

const AttributeSchema& RotateAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RotateAttributes>()
          .Add("degrees", &RotateAttributes::degrees, "how far, counter-clockwise")
          .Required()
          .AtLeast(-1e6)
          .AtMost(1e6)
          .Add("fill", &RotateAttributes::fill, kFillDoc)
          .Build();
  return schema;
}

const AttributeSchema& RandomRotateAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RandomRotateAttributes>()
          .Add("degrees", &RandomRotateAttributes::degrees,
               "how far, counter-clockwise: `[from, to]`, or one number d for [-d, d]")
          .Required()
          .AtLeast(-1e6)
          .AtMost(1e6)
          .Add("fill", &RandomRotateAttributes::fill, kFillDoc)
          .Add("key", &RandomRotateAttributes::key, "key of the random numbers")
          .Internal()
          .Add("varied", &RandomRotateAttributes::varied, "whether any sample is turned")
          .Internal()
          .Build();
  return schema;
}

Turn Turn::Of(const RotateAttributes& attributes) {
  return {attributes.degrees, attributes.degrees, 0};
}

Turn Turn::Of(const RandomRotateAttributes& attributes) {
  if (!attributes.varied) return {};
  const double last = attributes.degrees.back();
  const double first = attributes.degrees.size() == 1 ? -last : attributes.degrees[0];
  return {first, last, static_cast<uint64_t>(attributes.key)};
}

double Turn::DegreesOf(uint64_t step, int64_t n) const {
  if (from == to) return from;
  const double drawn = UniformFloat(RandomBits(key, step, static_cast<uint64_t>(n)));
  return from + (to - from) * drawn;
}

namespace op_def {
namespace {

bool CheckImages(InferContext& context, std::string_view op, double fill) {
  return ExpectImages(context, op, context.shape(0)) && ExpectPixels(context) &&
         ExpectPixelValue(context, "fill", fill);
}

std::vector<TensorType> InferRotate(InferContext& context) {
  const double fill = context.attributes<RotateAttributes>().fill;
  if (!CheckImages(context, "rotate", fill)) return {};
  return {context.input(0)};
}

std::vector<TensorType> InferRandom(InferContext& context) {
  const auto& a = context.attributes<RandomRotateAttributes>();
  const size_t count = a.degrees.size();
  if (count < 1 || count > 2) return context.Fail("`degrees` needs 1 or 2 numbers");
  if (a.degrees.back() < (count == 2 ? a.degrees[0] : 0)) {
    return context.Fail("`degrees` must go from the smaller to the larger number");
  }
  if (!CheckImages(context, "random_rotate", a.fill)) return {};
  if (!ExpectStep(context)) return {};
  return {context.input(0)};
}

void RotateGradient(GradientContext& context) {
  if (!IsFloat(context.input_type(0).dtype)) return;
  const RotateAttributes attributes{context.attributes<RotateAttributes>().degrees, 0};
  context.SetInputGradient(0, context.Emit(OpId::rotate_grad, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "grad"));
}

void RandomGradient(GradientContext& context) {
  if (!IsFloat(context.input_type(0).dtype)) return;
  RandomRotateAttributes attributes = context.attributes<RandomRotateAttributes>();
  attributes.fill = 0;
  context.SetInputGradient(0, context.Emit(OpId::random_rotate_grad, Attributes::Of(attributes),
                                           {context.output_gradient(0), context.input(1)}, "grad"));
}

OpCost RotateCost(const NodeSignature& node) { return {8 * node.inputs[0].shape.Elements()}; }

constexpr char kSampling[] =
    "The middle of the image stays where it is, and its size stays the same. A pixel of y is "
    "found between the four pixels of x around the place that it comes from (bilinear), with "
    "`fill` for those outside, computed in f64 and rounded once (uint8: to nearest, halves up). "
    "Multiples of 90 degrees of a square image move pixels as they are. ";

OpDef Rotation(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.cost = RotateCost;
  return def;
}

}  // namespace

OpDef rotate() {
  OpDef def = Rotation("rotate", "Turns images by a fixed angle.",
                       std::string(kSampling) + "torchvision rotate, bilinear, without expand.");
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], uint8 or floating-point"}};
  def.outputs = {{"y", "shape and type of x"}};
  def.schema = &RotateAttributes::Schema();
  def.infer = InferRotate;
  def.gradient = RotateGradient;
  def.moves = Moves::kWithin;
  return def;
}

OpDef rotate_grad() {
  OpDef def = Rotation("rotate_grad", "Computes the gradient of rotate.",
                       "Each pixel of dy is spread with the weights with which rotate read its "
                       "pixels, added in the order of dy in f64 and rounded once.");
  def.inputs = {{"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &RotateAttributes::Schema();
  def.infer = InferRotate;
  return def;
}

OpDef random_rotate() {
  OpDef def = Rotation(
      "random_rotate", "Turns images by random angles while training.",
      "While training each sample is turned by its own angle at each step, every angle of "
      "`degrees` equally likely, in paths of mode `forward` too. In evaluation y = x. " +
          std::string(kSampling) +
          "What is drawn depends on the run's seed, the operator's name, the step and the place in "
          "the batch alone (Philox4x32-10). torchvision RandomRotation, bilinear.");
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], uint8 or floating-point"},
                {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "shape and type of x"}};
  def.schema = &RandomRotateAttributes::Schema();
  def.infer = InferRandom;
  def.gradient = RandomGradient;
  def.needs_step = true;
  def.moves = Moves::kWithin;
  return def;
}

OpDef random_rotate_grad() {
  OpDef def = Rotation("random_rotate_grad", "Computes the gradient of random_rotate.",
                       "That of rotate, for the angles that random_rotate has drawn.");
  def.inputs = {{"dy", "gradient of y"}, {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &RandomRotateAttributes::Schema();
  def.infer = InferRandom;
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
