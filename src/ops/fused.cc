// Defines fused: several operators as one node. A pass makes the node; its types stand for those of
// its body.
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

// The types come from the body, which inference does not see: VerifyGraph checks fused nodes apart.
std::vector<TensorType> InferFused(InferContext& context) {
  return context.Fail("'fused' is made by the compiler alone");
}

OpCost FusedCost(const NodeSignature& node) {
  OpCost cost;
  for (const NodeSignature& inner : SignaturesInBody(node)) cost.flops += CostOf(inner).flops;
  return cost;
}

}  // namespace

OpDef fused() {
  OpDef def;
  def.name = "fused";
  def.summary = "Runs several operators as one node.";
  def.details =
      "The body lists the operators; an operand is an input or an earlier result. All of them give "
      "one result, but for the last, whose results are the node's.";
  def.inputs = {{"x", "operands of the body", Arity::kVariadic}};
  def.outputs = {{"y", "results of the last operator of the body", Arity::kVariadic}};
  def.infer = InferFused;
  def.cost = FusedCost;
  return def;
}

}  // namespace cgrun::op_def
