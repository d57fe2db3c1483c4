// Defines absolute_error: a loss of regressions that outliers move little, and its gradient.
#include "src/ops/builders.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef absolute_error() {
  return LossOp({"absolute_error", "Computes the mean absolute error.",
                 "loss = mean over all elements of |prediction - target|, added in index order in "
                 "f64 and rounded once; the loss of bf16 tensors is f32. PyTorch L1Loss."},
                {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}},
                InferPairLoss, GradientOfDifference<OpId::absolute_error_grad>, PerElement<3>);
}

OpDef absolute_error_grad() {
  OpDef def = LossGradOp(
      "absolute_error",
      "dprediction = sign(prediction - target)·dloss / (number of elements); 0 where both are "
      "equal, NaN where the difference is.",
      {{"prediction", "input of absolute_error"}, {"target", "its other input"}}, InferPairLossGrad,
      PerElement<2>);
  def.in_place.push_back({1, 0});
  return def;
}

}  // namespace cgrun::op_def
