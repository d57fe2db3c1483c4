// Defines abs and its gradient.
#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef abs() {
  OpDef def =
      ElementwiseOp({"abs", "Takes the absolute value of each element.",
                     "y = |x|: 0 for -0; a NaN stays a NaN. The gradient at 0 is 0. ONNX Abs."},
                    GradientFromInput<OpId::abs_grad>);
  def.infer = InferSameNumbers;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef abs_grad() {
  return ElementwiseGradOp(
      "abs", "x", "dx = dy where x > 0, -dy where x < 0, else 0 (for NaN too, as in PyTorch).");
}

}  // namespace cgrun::op_def
