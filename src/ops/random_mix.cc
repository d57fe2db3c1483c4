// Defines random_mix, which makes a random point between two samples. The drawn number is a pure
// function of key, step and sample. So the gradients are mixtures, too: of dy and nothing.
#include "src/ops/random_mix.h"

#include "src/ops/fill.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& RandomMixAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RandomMixAttributes>()
          .Add("key", &RandomMixAttributes::key, "key of the random numbers")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferRandomMix(InferContext& context) {
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  if (context.input(1) != context.input(0)) {
    return context.Fail("inputs differ: " + context.input(0).ToString() + " and " +
                        context.input(1).ToString());
  }
  if (context.shape(0).rank() == 0) return context.Fail("needs samples: [N, …]");
  if (context.input(2) != TensorType{DType::kI64, Shape()}) {
    return context.Fail("needs the step counter, an int64 scalar, not " +
                        context.input(2).ToString());
  }
  return {context.input(0)};
}

void RandomMixGradient(GradientContext& context) {
  const ValueId dy = context.output_gradient(0), step = context.input(2);
  const ValueId nothing =
      context.Emit(OpId::fill, Attributes::Of(FillAttributes{0}), {dy}, "nothing");
  const auto mix = [&](ValueId a, ValueId b, const char* name) {
    return context.Emit(OpId::random_mix, context.node().attributes, {a, b, step}, name);
  };
  if (context.needs_gradient(0)) context.SetInputGradient(0, mix(dy, nothing, "da"));
  if (context.needs_gradient(1)) context.SetInputGradient(1, mix(nothing, dy, "db"));
}

OpCost RandomMixCost(const NodeSignature& node) { return {3 * node.outputs[0].shape.Elements()}; }

}  // namespace

OpDef random_mix() {
  OpDef def;
  def.name = "random_mix";
  def.summary = "Draws a random point between two samples.";
  def.details =
      "y = u·a + (1 - u)·b, where u is drawn from [0, 1) for each sample. What is drawn depends on "
      "the run's seed, the operator's name, the step and the place in the batch alone "
      "(Philox4x32-10); evaluation draws too. Made for the gradient penalty of Gulrajani et al., "
      "\"Improved training of Wasserstein GANs\", 2017.";
  def.usage = Usage::kOperator;
  def.inputs = {
      {"a", "[N, …]"}, {"b", "shape of a"}, {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "shape of a"}};
  def.schema = &RandomMixAttributes::Schema();
  def.infer = InferRandomMix;
  def.gradient = RandomMixGradient;
  def.cost = RandomMixCost;
  def.in_place = {{0, 0}, {1, 0}};
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
