// Defines ranking and its gradient: the loss of two scores, one of which should be larger than the
// other by a margin.
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun {

const AttributeSchema& RankingAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<RankingAttributes>()
          .Add("margin", &RankingAttributes::margin, "how much larger the score should be")
          .AtLeast(0)
          .Build();
  return schema;
}

namespace op_def {
namespace {

// Checks that scores a and b have one type and shape. The target, input `target`, is like that of
// hinge, or there is none.
bool Check(InferContext& context, int target) {
  if (!CheckPair(context)) return false;
  if (context.num_inputs() <= target) return true;
  const DType dtype = context.dtype(target);
  const bool type_fits = dtype == context.dtype(0) || !IsFloat(dtype);
  if (type_fits && context.shape(target) == context.shape(0)) return true;
  context.Fail(
      "needs a target of the scores' shape, and of their type, bool or an integer type, "
      "not " +
      context.input(target).ToString() + " for " + context.input(0).ToString());
  return false;
}

std::vector<TensorType> InferRanking(InferContext& context) {
  return InferLoss(context, [](InferContext& c) { return Check(c, 2); });
}

std::vector<TensorType> InferRankingGrad(InferContext& context) {
  return InferLossGrad(context, [](InferContext& c) { return Check(c, 3); });
}

// The gradient of b is that of a with the opposite sign. No gradient flows into the target.
void RankingGradient(GradientContext& context) {
  if (!context.needs_gradient(0) && !context.needs_gradient(1)) return;
  std::vector<ValueId> inputs = {context.input(0), context.input(1), context.output_gradient(0)};
  if (context.num_inputs() > 2) inputs.push_back(context.input(2));
  const ValueId da =
      context.Emit(OpId::ranking_grad, context.node().attributes, std::move(inputs), "grad");
  if (context.needs_gradient(0)) context.SetInputGradient(0, da);
  if (!context.needs_gradient(1)) return;
  context.SetInputGradient(1, context.Emit(OpId::neg, Attributes(), {da}, "grad_of_b"));
}

OpCost RankingCost(const NodeSignature& node) { return {5 * node.inputs[0].shape.Elements()}; }

constexpr char kTarget[] = "shape of the scores; their type, bool or an integer type";

}  // namespace

OpDef ranking() {
  OpDef def;
  def.name = "ranking";
  def.summary = "Computes the margin ranking loss of pairs of scores.";
  def.details =
      "loss = mean over all elements of max(0, margin - t·(a - b)), added in index order in f64 "
      "and "
      "rounded once; the loss of bf16 scores is f32. t is 1, a should be larger, where the target "
      "is above 0 or there is none, and -1 for any other; a NaN makes the loss NaN. No gradient "
      "flows into targets. PyTorch MarginRankingLoss.";
  def.usage = Usage::kLoss;
  def.inputs = {{"a", "scores of any shape"},
                {"b", "type and shape of a"},
                {"target", kTarget, Arity::kOptional}};
  def.outputs = {{"loss", "scalar"}};
  def.schema = &RankingAttributes::Schema();
  def.infer = InferRanking;
  def.gradient = RankingGradient;
  def.cost = RankingCost;
  return def;
}

OpDef ranking_grad() {
  OpDef def;
  def.name = "ranking_grad";
  def.summary = "Computes the gradient of ranking.";
  def.details =
      "da = -t·dloss / (number of elements) where margin - t·(a - b) is above 0, else 0; NaN where "
      "that is. The gradient of b is -da.";
  def.inputs = {{"a", "input of ranking"},
                {"b", "its other scores"},
                {"dloss", "gradient of the loss, a scalar"},
                {"target", kTarget, Arity::kOptional}};
  def.outputs = {{"da", "gradient of a"}};
  def.schema = &RankingAttributes::Schema();
  def.infer = InferRankingGrad;
  def.cost = RankingCost;
  def.in_place = {{0, 0}, {1, 0}};
  return def;
}

}  // namespace op_def
}  // namespace cgrun
