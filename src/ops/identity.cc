// Defines identity: a copy. It carries a value into another buffer, as an update edge sometimes
// needs.
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferIdentity(InferContext& context) { return {context.input(0)}; }

void IdentityGradient(GradientContext& context) {
  context.SetInputGradient(0, context.output_gradient(0));
}

OpCost IdentityCost(const NodeSignature&) { return {}; }

}  // namespace

OpDef identity() {
  OpDef def;
  def.name = "identity";
  def.summary = "Copies its input.";
  def.details = "y = x. ONNX Identity.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "any tensor"}};
  def.outputs = {{"y", "the copy"}};
  def.infer = InferIdentity;
  def.gradient = IdentityGradient;
  def.cost = IdentityCost;
  def.in_place = {{0, 0}};
  def.narrow = Narrow::kFollows;
  def.moves = Moves::kInOrder;
  return def;
}

}  // namespace cgrun::op_def
