// Type inference of losses that are a mean over all elements.
#include "src/ops/loss.h"

namespace cgrun {

namespace {

// Returns whether input 1 has one number a sample and no more axes, and input 0 one in a second
// axis.
bool LacksAnAxis(const InferContext& context) {
  const Shape &prediction = context.shape(0), &target = context.shape(1);
  return target.rank() == 1 && prediction.rank() == 2 && prediction[1] == Dim(1) &&
         prediction[0] == target[0];
}

}  // namespace

bool CheckPair(InferContext& context) {
  if (IsFloat(context.dtype(0)) && context.input(0) == context.input(1)) return true;
  const bool as_column = LacksAnAxis(context) && context.dtype(0) == context.dtype(1);
  context.Fail("needs a prediction and a target of one floating-point type and shape, not " +
                   context.input(0).ToString() + " and " + context.input(1).ToString(),
               as_column ? "`shape: [1]` makes an input of the model [N, 1]"
                         : "`reshape` changes the shape of one, `cast` its type");
  return false;
}

bool CheckTargets(InferContext& context) {
  const DType prediction = context.dtype(0), target = context.dtype(1);
  const bool type_fits = IsFloat(prediction) && (target == prediction || !IsFloat(target));
  if (type_fits && context.shape(0) == context.shape(1)) return true;
  context.Fail(
      "needs a floating-point prediction and a target of its shape, of its type or bool or "
      "an integer type, not " +
          context.input(0).ToString() + " and " + context.input(1).ToString(),
      type_fits && LacksAnAxis(context) ? "`shape: [1]` makes an input of the model [N, 1]"
                                        : "`reshape` changes the shape of one (`shape: []` makes "
                                          "[N] of [N, 1]), `cast` its type");
  return false;
}

std::vector<TensorType> InferLoss(InferContext& context, bool (*check)(InferContext&)) {
  if (!check(context)) return {};
  return {{LossType(context.dtype(0)), Shape()}};
}

std::vector<TensorType> InferLossGrad(InferContext& context, bool (*check)(InferContext&)) {
  if (!check(context)) return {};
  if (context.input(2) != TensorType{LossType(context.dtype(0)), Shape()}) {
    return context.Fail("needs a scalar gradient of the loss, not " + context.input(2).ToString());
  }
  return {context.input(0)};
}

std::vector<TensorType> InferPairLoss(InferContext& context) {
  return InferLoss(context, CheckPair);
}
std::vector<TensorType> InferPairLossGrad(InferContext& context) {
  return InferLossGrad(context, CheckPair);
}
std::vector<TensorType> InferTargetLoss(InferContext& context) {
  return InferLoss(context, CheckTargets);
}
std::vector<TensorType> InferTargetLossGrad(InferContext& context) {
  return InferLossGrad(context, CheckTargets);
}

}  // namespace cgrun
