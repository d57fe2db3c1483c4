// Implements the checks and definitions that the optimizers share.
#include "src/ops/optimizer.h"

#include "src/ops/infer.h"

namespace cgrun {

bool CheckOptimizerInputs(InferContext& context, int states) {
  const TensorType& parameter = context.input(0);
  if (!IsFloat(parameter.dtype)) {
    context.Fail("cannot learn a parameter of type " + parameter.ToString());
    return false;
  }
  for (int i = 1; i < 3 + states; ++i) {
    if (i == 2 || (i < context.num_inputs() && context.input(i) == parameter)) continue;
    context.Fail("needs a gradient and " + std::to_string(states) +
                 " states of the parameter's type " + parameter.ToString());
    return false;
  }
  if (context.input(2) == TensorType{DType::kF64, Shape()}) return true;
  context.Fail("needs a learning rate f64[], not " + context.input(2).ToString());
  return false;
}

void WarnOfNoEpsilon(InferContext& context, double epsilon) {
  const bool is_f64 = context.dtype(0) == DType::kF64;
  if (is_f64 ? epsilon > 0 : static_cast<float>(epsilon) > 0) return;
  context.Warn(epsilon > 0 ? "such an `epsilon` is 0 in f32, which makes 0/0, a NaN, of a gradient "
                             "that has always been 0"
                           : "`epsilon: 0` makes 0/0, which is NaN, of a gradient that has always "
                             "been 0",
               "leave `epsilon` out, or give a small number");
}

bool CheckStepCounter(InferContext& context, int i) {
  if (context.input(i) == TensorType{DType::kI64, Shape()}) return true;
  context.Fail("needs a step counter int64[], not " + context.input(i).ToString());
  return false;
}

}  // namespace cgrun
