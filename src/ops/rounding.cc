// Defines sign, ceil, floor and round. They are flat between their steps: no gradient flows through
// them.
#include <utility>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

OpDef StepFunction(OpText text) {
  OpDef def = ElementwiseOp(std::move(text), nullptr);
  def.narrow = Narrow::kFollows;
  return def;
}

}  // namespace

OpDef sign() {
  OpDef def =
      StepFunction({"sign", "Tells the sign of each element.",
                    "y = 1 where x > 0, -1 where x < 0, 0 where it is 0; a NaN stays a NaN. "
                    "No gradient flows. ONNX Sign."});
  def.infer = InferSameNumbers;
  def.bounded = true;
  return def;
}

OpDef ceil() {
  return StepFunction({"ceil", "Rounds each element up.",
                       "y is the least whole number that is not below x. No gradient flows. ONNX "
                       "Ceil."});
}

OpDef floor() {
  return StepFunction({"floor", "Rounds each element down.",
                       "y is the largest whole number that is not above x. No gradient flows. ONNX "
                       "Floor."});
}

OpDef round() {
  return StepFunction({"round", "Rounds each element to the nearest whole number.",
                       "y is the nearest whole number, of two the even one: 2 for 1.5 and for 2.5. "
                       "No gradient flows. ONNX Round."});
}

}  // namespace cgrun::op_def
