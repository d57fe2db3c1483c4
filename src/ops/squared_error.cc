// Defines squared_error, the loss of a regression, and its gradient.
#include "src/ops/builders.h"
#include "src/ops/loss.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef squared_error() {
  return LossOp({"squared_error", "Computes the mean squared error.",
                 "loss = mean over all elements of (prediction - target)², added in index order in "
                 "f64 and rounded once; the loss of bf16 tensors is f32. PyTorch MSELoss."},
                {{"prediction", "any shape"}, {"target", "type and shape of the prediction"}},
                InferPairLoss, GradientOfDifference<OpId::squared_error_grad>, PerElement<3>);
}

OpDef squared_error_grad() {
  OpDef def = LossGradOp("squared_error",
                         "dprediction = 2·(prediction - target)·dloss / (number of elements).",
                         {{"prediction", "input of squared_error"}, {"target", "its other input"}},
                         InferPairLossGrad, PerElement<3>);
  def.in_place.push_back({1, 0});
  return def;
}

}  // namespace cgrun::op_def
