// Defines random_normal and random_uniform: tensors of random numbers, such as a GAN's latent. A
// number is a pure function of key, step and element, so that order, planner, mode and resume do
// not change it.
#include "src/ops/random.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

// The fields that both have around their own.
template <class T>
SchemaBuilder<T> WithShape() {
  SchemaBuilder<T> builder;
  builder.Add("shape", &T::shape, "sizes of y without the batch axis, which stands in front: [64]")
      .Required();
  return builder;
}

template <class T>
AttributeSchema WithTypeAndKey(SchemaBuilder<T>& builder) {
  return builder.Add("dtype", &T::dtype, "number type of y; the precision of the run")
      .Add("key", &T::key, "key of the random numbers")
      .Internal()
      .Build();
}

}  // namespace

const AttributeSchema& RandomNormalAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<RandomNormalAttributes> builder = WithShape<RandomNormalAttributes>();
    builder.Add("mean", &RandomNormalAttributes::mean, "mean of the numbers")
        .Add("deviation", &RandomNormalAttributes::deviation, "their standard deviation")
        .AtLeast(0);
    return WithTypeAndKey(builder);
  }();
  return schema;
}

const AttributeSchema& RandomUniformAttributes::Schema() {
  static const AttributeSchema schema = [] {
    SchemaBuilder<RandomUniformAttributes> builder = WithShape<RandomUniformAttributes>();
    builder.Add("low", &RandomUniformAttributes::low, "the numbers are at least this")
        .Add("high", &RandomUniformAttributes::high, "and less than this, before they are rounded");
    return WithTypeAndKey(builder);
  }();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferNumbers(InferContext& context, const Shape& shape, DType dtype) {
  if (!CountElements(shape)) {
    return context.Fail("`shape` " + shape.ToString() +
                        " has a size that is not positive, or is "
                        "too large");
  }
  if (!IsFloat(dtype)) {
    return context.Fail("`dtype` must be floating-point, not " + std::string(Name(dtype)));
  }
  if (context.input(0) != TensorType{DType::kI64, Shape()}) {
    return context.Fail("needs the step counter, an int64 scalar, not " +
                        context.input(0).ToString());
  }
  return {{dtype, shape}};
}

std::vector<TensorType> InferNormal(InferContext& context) {
  const auto& attributes = context.attributes<RandomNormalAttributes>();
  return InferNumbers(context, attributes.shape, attributes.dtype);
}

std::vector<TensorType> InferUniform(InferContext& context) {
  const auto& attributes = context.attributes<RandomUniformAttributes>();
  if (attributes.low >= attributes.high) {
    return context.Fail(
        "`low` must be less than `high`: " + ToString(AttributeValue(attributes.low)) +
        " is not less than " + ToString(AttributeValue(attributes.high)));
  }
  return InferNumbers(context, attributes.shape, attributes.dtype);
}

// A logarithm, a root, a cosine, and what scales them.
OpCost NormalCost(const NodeSignature& node) { return {8 * node.outputs[0].shape.Elements()}; }
OpCost UniformCost(const NodeSignature& node) { return {2 * node.outputs[0].shape.Elements()}; }

OpDef Random(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details =
      std::move(details) +
      " Computed in f64 and rounded once. A number depends on the run's seed, the operator's name, "
      "the step and the element alone; each step draws others, in evaluation too. It reads "
      "nothing: give no `in:`. No gradient flows.";
  def.usage = Usage::kOperator;
  def.inputs = {{"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "of shape `shape`"}};
  def.needs_step = true;
  return def;
}

}  // namespace

OpDef random_normal() {
  OpDef def = Random("random_normal", "Draws normally distributed random numbers.",
                     "y = mean + deviation·z, where z is drawn from the standard normal "
                     "distribution (Philox4x32-10, Box-Muller). ONNX RandomNormal.");
  def.schema = &RandomNormalAttributes::Schema();
  def.infer = InferNormal;
  def.cost = NormalCost;
  return def;
}

OpDef random_uniform() {
  OpDef def = Random("random_uniform", "Draws evenly distributed random numbers.",
                     "y = low + (high - low)·u, where u is one of the 2^24 multiples of 2^-24 in "
                     "[0, 1) (Philox4x32-10). ONNX RandomUniform.");
  def.schema = &RandomUniformAttributes::Schema();
  def.infer = InferUniform;
  def.cost = UniformCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
