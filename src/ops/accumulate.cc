// Defines accumulate, which adds a batch's gradient to the sum of those of a step.
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferAccumulate(InferContext& context) {
  if (!IsFloat(context.dtype(0)) || context.input(1) != context.input(0)) {
    return context.Fail("cannot add " + context.input(1).ToString() + " to " +
                        context.input(0).ToString());
  }
  if (context.input(2) != TensorType{DType::kF64, Shape{2}}) {
    return context.Fail("needs factors f64[2], not " + context.input(2).ToString());
  }
  return {context.input(0)};
}

OpCost AccumulateCost(const NodeSignature& node) { return {2 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef accumulate() {
  OpDef def;
  def.name = "accumulate";
  def.summary = "Adds a weighted gradient to a sum of gradients.";
  def.details =
      "y = sum + weight·g where goes_on is not 0; y = weight·g where it is 0, whatever the sum "
      "holds. Computed in f64 and rounded once.";
  def.inputs = {{"sum", "of the gradients so far"},
                {"gradient", "g, type of the sum"},
                {"factors", "goes_on and weight, f64[2]"}};
  def.outputs = {{"y", "the sum with g"}};
  def.infer = InferAccumulate;
  def.cost = AccumulateCost;
  def.in_place = {{0, 0}, {1, 0}};
  def.updates = {{0, 0}};
  return def;
}

}  // namespace cgrun::op_def
