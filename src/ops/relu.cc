// Defines relu, and its gradient, which needs the output alone.
#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

OpDef relu() {
  OpDef def = ActivationOp({"relu", "Sets negative elements to 0 (the rectified linear unit).",
                            "y = max(x, 0); a NaN stays a NaN. ONNX Relu."},
                           GradientFromResult<OpId::relu_grad>);
  def.moves = Moves::kWithin;
  return def;
}

// A small change of y does not change where it is positive.
OpDef relu_grad() {
  OpDef def = ElementwiseGradOp("relu", "y", "dx = dy where y > 0, else 0.");
  def.gradient = GradientByDy<OpId::relu_grad>;
  return def;
}

}  // namespace cgrun::op_def
