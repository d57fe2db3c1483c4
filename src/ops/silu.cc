// Defines silu and hard_swish, and their gradients. Both fall and rise, so that the gradients need
// the input.
#include "src/ops/builders.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {

// The logistic function takes four operations.
OpDef silu() {
  OpDef def = ActivationOp({"silu", "Multiplies each element by its logistic function.",
                            "y = x·sigmoid(x). Infinities give their limits, inf and -0. Elfwing, "
                            "Uchibe and Doya, 2018; "
                            "Swish with β = 1. PyTorch SiLU; ONNX Swish."},
                           GradientFromInput<OpId::silu_grad>);
  def.cost = PerElement<5>;
  return def;
}

OpDef silu_grad() {
  OpDef def = ElementwiseGradOp(
      "silu", "x",
      "dx = dy·(s + x·s·(1 - s)), s = sigmoid(x). At infinities, the limits: dy and 0.");
  def.cost = PerElement<9>;
  return def;
}

OpDef hard_swish() {
  OpDef def = ActivationOp(
      {"hard_swish", "Multiplies each element by a piecewise linear gate.",
       "y = x·min(max(x + 3, 0), 6) ÷ 6, which is 0 where x ≤ -3 and x where x ≥ 3. Howard et al., "
       "2019. PyTorch Hardswish; ONNX HardSwish."},
      GradientFromInput<OpId::hard_swish_grad>);
  def.cost = PerElement<5>;
  return def;
}

OpDef hard_swish_grad() {
  OpDef def = ElementwiseGradOp("hard_swish", "x",
                                "dx = dy·(2x + 3) ÷ 6 where -3 < x < 3, 0 where x ≤ -3, else dy.");
  def.cost = PerElement<5>;
  return def;
}

}  // namespace cgrun::op_def
