// Defines relu_bits, and the gradient of relu from these bits. One bit for each element of relu's
// output is all that the gradient needs.
#include "src/ops/relu_bits.h"

#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

// Returns the shape of the bits of a tensor of that shape. Reports a shape whose elements cannot be
// packed.
Shape ShapeOfBits(InferContext& context, Shape shape) {
  if (shape.rank() == 0 || shape[BitsAxis(shape)].batch) {
    context.Fail("cannot pack " + shape.ToString() + ": axis " + std::to_string(BitsAxis(shape)) +
                 " must not depend on the batch");
    return {};
  }
  Dim& packed = shape[BitsAxis(shape)];
  packed.size = BytesOfBits(packed.size);
  return shape;
}

std::vector<TensorType> InferReluBits(InferContext& context) {
  InferSameAsInput(context);
  if (context.failed()) return {};
  const Shape bits = ShapeOfBits(context, context.shape(0));
  if (context.failed()) return {};
  return {{DType::kU8, bits}};
}

std::vector<TensorType> InferReluBitsGrad(InferContext& context) {
  const TensorType& dy = context.input(1);
  if (!IsFloat(dy.dtype)) {
    return context.Fail("needs a floating-point gradient, not " + dy.ToString());
  }
  const TensorType wanted{DType::kU8, ShapeOfBits(context, dy.shape)};
  if (context.failed()) return {};
  if (context.input(0) != wanted) {
    return context.Fail("needs bits " + wanted.ToString() + " for a gradient " + dy.ToString() +
                        ", not " + context.input(0).ToString());
  }
  return {dy};
}

OpCost ReluBitsCost(const NodeSignature& node) { return {node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef relu_bits() {
  OpDef def;
  def.name = "relu_bits";
  def.summary = "Says which elements of the output of relu are positive, with a bit for each.";
  def.details =
      "Bit k of byte b along the packed axis says whether element 8·b + k is positive; a NaN is "
      "not, and bits behind the last element are 0. Packed is axis 1, of a vector axis 0.";
  def.inputs = {{"y", "output of relu"}};
  def.outputs = {{"bits", "uint8; shape of y with an eighth, rounded up, of the packed axis"}};
  def.infer = InferReluBits;
  def.cost = ReluBitsCost;
  return def;
}

OpDef relu_grad_by_bits() {
  OpDef def;
  def.name = "relu_grad_by_bits";
  def.summary = "Computes the gradient of relu from the bits of its output.";
  def.details = "dx = dy where the bit of relu_bits is 1, else 0: what relu_grad gives.";
  def.inputs = {{"bits", "relu_bits of the output of relu"}, {"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.infer = InferReluBitsGrad;
  def.in_place = {{1, 0}};
  return def;
}

}  // namespace cgrun::op_def
