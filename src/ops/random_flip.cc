// Defines random_flip, which makes axes of some samples run backwards. The choice of samples is a
// pure function of key, step and sample. The operator is therefore its own gradient.
#include "src/ops/random_flip.h"

#include <algorithm>

#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& RandomFlipAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RandomFlipAttributes>()
          .Add("axes", &RandomFlipAttributes::axes,
               "axes that run backwards together, the batch axis, 0, excepted; negative ones count "
               "from the last: -1 exchanges left and right of an image")
          .Add("probability", &RandomFlipAttributes::probability,
               "probability with which a sample is flipped")
          .AtLeast(0)
          .AtMost(1)
          .Add("key", &RandomFlipAttributes::key, "key of the random numbers")
          .Internal()
          .Add("varied", &RandomFlipAttributes::varied, "whether any sample is flipped")
          .Internal()
          .Build();
  return schema;
}

namespace op_def {
namespace {

std::vector<TensorType> InferRandomFlip(InferContext& context) {
  const IntList& wanted = context.attributes<RandomFlipAttributes>().axes;
  const Shape& x = context.shape(0);
  if (wanted.empty()) return context.Fail("`axes` is empty");
  const auto axes = NormalizeAxes(wanted, x.rank());
  if (!axes) return context.Fail(AxesMessage(wanted, x));
  const bool batch = std::any_of(x.begin() + 1, x.end(), [](const Dim& dim) { return dim.batch; });
  if (axes->front() == 0 || batch) {
    return context.Fail("the axis of the samples must be 0, and cannot be flipped");
  }
  if (!ExpectStep(context)) return {};
  return {context.input(0)};
}

void RandomFlipGradient(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(OpId::random_flip, context.node().attributes,
                                           {context.output_gradient(0), context.input(1)}, "dx"));
}

}  // namespace

OpDef random_flip() {
  OpDef def;
  def.name = "random_flip";
  def.summary = "Reverses axes of some samples while training.";
  def.details =
      "While training, y is what `flip` makes of a sample with `probability`, else the sample "
      "itself; each sample is drawn by itself at each step, in paths of mode `forward` too. In "
      "evaluation y = x. What is drawn depends on the run's seed, the operator's name, the step "
      "and the place in the batch alone (Philox4x32-10). Of an image, -1 exchanges left and right, "
      "-2 top and bottom; two operators draw one after the other.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "[N, …], of any type"}, {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "shape of x"}};
  def.schema = &RandomFlipAttributes::Schema();
  def.infer = InferRandomFlip;
  def.gradient = RandomFlipGradient;
  def.cost = NoOperations;
  def.needs_step = true;
  def.moves = Moves::kAnywhere;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
