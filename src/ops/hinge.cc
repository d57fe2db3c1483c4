// Defines hinge and its gradient: the loss of a classifier with a margin (a support vector
// machine).
#include "src/ops/builders.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

// The loss depends only on which side of 0 a target lies, so that no gradient flows into the
// target.
void HingeGradient(GradientContext& context) {
  if (!context.needs_gradient(0)) return;
  context.SetInputGradient(
      0, context.Emit(OpId::hinge_grad, Attributes(),
                      {context.input(0), context.input(1), context.output_gradient(0)}, "grad"));
}

}  // namespace

OpDef hinge() {
  return LossOp(
      {"hinge", "Computes the hinge loss of scores against two classes.",
       "loss = mean over all elements of max(0, 1 - t·score), added in index order in f64 and "
       "rounded once; the loss of bf16 scores is f32. t is 1 for a target above 0 and -1 for any "
       "other, so that targets are -1 and 1, 0 and 1, or bool; a NaN makes the loss NaN. No "
       "gradient flows into targets. scikit-learn hinge_loss of two classes, Keras Hinge."},
      {{"scores", "any shape"},
       {"target", "shape of the scores; their type, bool or an integer type"}},
      InferTargetLoss, HingeGradient, PerElement<4>);
}

OpDef hinge_grad() {
  return LossGradOp(
      "hinge",
      "dscores = -t·dloss / (number of elements) where t·score is less than 1, else 0; NaN where "
      "t·score is.",
      {{"scores", "input of hinge"}, {"target", "its targets"}}, InferTargetLossGrad,
      PerElement<3>);
}

}  // namespace cgrun::op_def
