// Defines logical_not, logical_and, logical_or and logical_xor of bools. No gradient flows through
// them.
#include <utility>

#include "src/ops/builders.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferNot(InferContext& context) {
  if (context.dtype(0) == DType::kBool) return {context.input(0)};
  return context.Fail("needs a bool, not " + context.input(0).ToString(),
                      "`compare` makes one; `cast` with `to: bool` asks what is not 0");
}

std::vector<TensorType> InferLogic(InferContext& context) {
  if (context.dtype(0) != DType::kBool || context.dtype(1) != DType::kBool) {
    return context.Fail("needs two inputs of type bool, not " + context.input(0).ToString() +
                            " and " + context.input(1).ToString(),
                        "`compare` makes bools; `cast` with `to: bool` asks what is not 0");
  }
  return InferCommonShape(context, DType::kBool);
}

OpDef Logic(OpText text) {
  OpDef def = Described(std::move(text));
  def.usage = Usage::kOperator;
  def.inputs = {{"a", "bool, any shape"}, {"b", "bool, a shape that goes with a's"}};
  def.outputs = {{"y", "bool, the broadcast shape"}};
  def.infer = InferLogic;
  def.in_place = {{0, 0}, {1, 0}};
  def.commutative = true;
  return def;
}

}  // namespace

OpDef logical_not() {
  OpDef def = Described({"logical_not", "Exchanges true and false.", "y = not x. ONNX Not."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "bool, any shape"}};
  def.outputs = {{"y", "bool, shape of x"}};
  def.infer = InferNot;
  def.in_place = {{0, 0}};
  return def;
}

OpDef logical_and() {
  return Logic(
      {"logical_and", "Tells where both of two conditions are true.", "y = a and b. ONNX And."});
}

OpDef logical_or() {
  return Logic({"logical_or", "Tells where one of two conditions is true, or both are.",
                "y = a or b. ONNX Or."});
}

OpDef logical_xor() {
  return Logic({"logical_xor", "Tells where exactly one of two conditions is true.",
                "y = a or b, but not both. ONNX Xor."});
}

}  // namespace cgrun::op_def
