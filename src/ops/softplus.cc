// softplus, and its gradient, which needs the output alone.
#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef softplus() {
  return ActivationOp({"softplus", "Applies a smooth rectifier.",
                       "y = log(1 + e^x), without overflow for any x. ONNX Softplus."},
                      GradientFromResult<OpId::softplus_grad>);
}

OpDef softplus_grad() {
  return ElementwiseGradOp("softplus", "y", "dx = dy·(1 - e^-y), which is dy·sigmoid(x).");
}

}  // namespace cgrun::op_def
