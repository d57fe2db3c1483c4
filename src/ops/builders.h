// Declares what operators of one family have in common: element by element, activations, losses,
// convolutions.
#ifndef CGRUN_OPS_BUILDERS_H_
#define CGRUN_OPS_BUILDERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {

struct OpText {
  std::string name, summary, details;
};

OpDef Described(OpText text);

// Takes one floating-point tensor and gives one of its type, element by element, in place.
OpDef ElementwiseOp(OpText text, GradientFunction gradient);

// Makes such an operator that the key `activation` of others may name.
OpDef ActivationOp(OpText text, GradientFunction gradient);

// Makes the gradient `of`_grad of such an operator. It computes dx from dy and from `reads`, which
// is "y", the result, or "x", the input.
OpDef ElementwiseGradOp(const std::string& of, std::string_view reads, std::string details);

// The gradient of such an operator is the node kGrad with its attributes.
template <OpId kGrad>
void GradientFromResult(GradientContext& context) {
  context.SetInputGradient(0,
                           context.Emit(kGrad, context.node().attributes,
                                        {context.output(0), context.output_gradient(0)}, "grad"));
}
template <OpId kGrad>
void GradientFromInput(GradientContext& context) {
  context.SetInputGradient(0, context.Emit(kGrad, context.node().attributes,
                                           {context.input(0), context.output_gradient(0)}, "grad"));
}

// The gradient by dy of a node kGrad that is linear in dy, and does not change with its input 0.
template <OpId kGrad>
void GradientByDy(GradientContext& context) {
  if (!context.needs_gradient(1)) return;
  context.SetInputGradient(1, context.Emit(kGrad, context.node().attributes,
                                           {context.input(0), context.output_gradient(0)}, "ddy"));
}

// A loss that is a mean over elements.
OpDef LossOp(OpText text, std::vector<OperandDef> inputs, InferFunction infer,
             GradientFunction gradient, CostFunction cost);

// The gradient `of`_grad of a loss, by its input 0, whose name is `prediction`. Its inputs are
// those of the loss as `inputs` describes them, and the gradient of the loss.
OpDef LossGradOp(const std::string& of, std::string details, std::vector<OperandDef> inputs,
                 InferFunction infer, CostFunction cost);

// Emits the gradients of a loss of a difference: the target's is the prediction's with both
// exchanged.
void SetGradientsOfDifference(GradientContext& context, OpId grad, const Attributes& attributes);

template <OpId kGrad>
void GradientOfDifference(GradientContext& context) {
  SetGradientsOfDifference(context, kGrad, Attributes());
}

// Describes the tensors that conv and conv_transpose own: a weight of shape [·, ·, height, width],
// and maybe a bias of `filters` numbers. A fan_out counts `fan_out_channels` with each element of a
// filter.
struct ConvTensors {
  Shape weight;
  int64_t fan_out_channels = 0;
  int64_t filters = 0;
  bool bias = true;
};

std::vector<OwnedTensor> OwnedOf(const ConvTensors& tensors, DType dtype);

// Returns whether the inputs behind x are these; reports it where not.
bool ExpectTensors(InferContext& context, const ConvTensors& tensors);

// The type of the output y; reports it where it or the weight is too large.
std::vector<TensorType> InferOutput(InferContext& context, const Shape& y);

// Sets the gradient of the bias, where there is one and it is needed.
void SetBiasGradient(GradientContext& context);

OpDef ConvOp(OpText text, std::string weight);

// Counts so many operations for each element of input 0.
template <int64_t kOperations>
OpCost PerElement(const NodeSignature& node) {
  return {kOperations * node.inputs[0].shape.Elements()};
}

}  // namespace cgrun

#endif  // CGRUN_OPS_BUILDERS_H_
