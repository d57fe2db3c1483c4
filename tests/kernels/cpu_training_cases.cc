// Cases of what transformers and other networks add: layer_norm, embedding, more losses and
// optimizers.
#include <cmath>
#include <utility>

#include "src/ops/embedding.h"
#include "src/ops/gather.h"
#include "src/ops/layer_norm.h"
#include "src/ops/loss.h"
#include "src/ops/norm_scale.h"
#include "src/ops/optimizer.h"
#include "src/ops/softmax.h"
#include "tests/kernels/random_tensors.h"

namespace cgrun {
namespace {

using Inputs = std::vector<HostTensor>;

RandomNode MakeLogSoftmax(Dice& dice, int64_t elements) {
  const Shape x = AnyShape(dice, 1, 4, elements);
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  return MakeNode(OpId::log_softmax,
                  Attributes::Of(SoftmaxAttributes{dice.Between(0, x.rank() - 1)}),
                  {Numbers(dice, DType::kF32, x, specials, 5)});
}

RandomNode MakeLogSoftmaxGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeLogSoftmax(dice, elements);
  const HostTensor y = Evaluated(forward)[0];
  return MakeNode(OpId::log_softmax_grad, forward.node.attributes,
                  {y, Numbers(dice, DType::kF32, y.shape())});
}

RandomNode MakeLayerNorm(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, 2, 4, elements);
  const LayerNormAttributes norm{dice.Between(1, shape.rank() - 1), 1e-5, !dice.OneIn(3)};
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  HostTensor x = Numbers(dice, DType::kF32, shape, specials);
  const double shift = dice.Of<double>({0.0, 5.0, -300.0});
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, x.At(i) + shift);
  Inputs inputs = {x};
  const Shape features(std::vector<Dim>(shape.begin() + norm.axis, shape.end()));
  for (int i = 0; norm.affine && i < 2; ++i) {
    inputs.push_back(Numbers(dice, DType::kF32, features));
  }
  return MakeNode(OpId::layer_norm, Attributes::Of(norm), inputs);
}

RandomNode MakeLayerNormGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeLayerNorm(dice, elements);
  const Inputs outputs = Evaluated(forward);
  Inputs inputs = {forward.inputs[0], Numbers(dice, DType::kF32, forward.inputs[0].shape()),
                   outputs[1], outputs[2]};
  if (forward.inputs.size() > 1) inputs.push_back(forward.inputs[1]);
  return MakeNode(OpId::layer_norm_grad, forward.node.attributes, inputs);
}

RandomNode MakeEmbedding(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 2, elements);
  const DType dtype = dice.Of<DType>({DType::kU8, DType::kI32, DType::kI64});
  const int64_t most = std::min<int64_t>(sizes[0] - (dice.OneIn(4) ? 0 : 1), 255);
  const HostTensor ids = Integers(dice, dtype, AnyShape(dice, elements / sizes[1] + 1), 0, most);
  return MakeNode(OpId::embedding, Attributes::Of(EmbeddingAttributes{sizes[0], sizes[1]}),
                  {ids, Numbers(dice, DType::kF32, Shape::Of(sizes))});
}

// A few indices are outside.
RandomNode MakeGather(Dice& dice, int64_t elements) {
  const int rank = static_cast<int>(dice.Between(1, 3));
  const Sizes sizes = AnySizes(dice, rank, elements);
  const int64_t axis = dice.Between(0, rank - 1);
  const int64_t size = sizes[static_cast<size_t>(axis)];
  const DType index = dice.Of<DType>({DType::kI32, DType::kI64});
  return MakeNode(OpId::gather, Attributes::Of(GatherAttributes{axis}),
                  {Numbers(dice, AnyFloat(dice), Shape::Of(sizes)),
                   Integers(dice, index, AnyShape(dice, 0, 2, size), -size, size)});
}

RandomNode MakeEmbeddingGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeEmbedding(dice, elements);
  return MakeNode(OpId::embedding_grad, forward.node.attributes,
                  {forward.inputs[0], Numbers(dice, DType::kF32, forward.node.outputs[0].shape,
                                              dice.OneIn(3) ? Specials::kAll : Specials::kZeros)});
}

// A prediction and a target, some of which are equal; of predictions that are probabilities, too.
Inputs AnyPair(Dice& dice, int64_t elements, bool any_target, bool probabilities) {
  const Shape shape = AnyShape(dice, elements);
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  HostTensor prediction = Numbers(dice, DType::kF32, shape, specials, 3);
  for (int64_t i = 0; i < prediction.elements(); ++i) {
    const double x = prediction.At(i);
    prediction.Set(i, probabilities ? 1 / (1 + std::exp(-x)) : std::round(4 * x) / 4);
  }
  const DType type =
      any_target ? dice.Of<DType>({DType::kF32, DType::kBool, DType::kU8, DType::kI32, DType::kI64})
                 : DType::kF32;
  if (type != DType::kF32) return {prediction, Integers(dice, type, shape, 0, 1)};
  HostTensor target = Numbers(dice, type, shape, Specials::kZeros);
  for (int64_t i = 0; i < target.elements(); ++i) {
    const double x = target.At(i);
    target.Set(i, any_target ? std::min(std::abs(x), 1.0) : std::round(4 * x) / 4);
  }
  return {prediction, target};
}

CpuCase Loss(OpId op, bool any_target, Attributes attributes = {}) {
  return {op, kRounding, [=](Dice& dice, int64_t elements) {
            return MakeNode(op, attributes, AnyPair(dice, elements, any_target, false));
          }};
}

CpuCase LossGrad(OpId op, bool any_target, Attributes attributes = {}) {
  return {op, kRounding, [=](Dice& dice, int64_t elements) {
            Inputs inputs = AnyPair(dice, elements, any_target, false);
            inputs.push_back(HostTensor::Scalar<float>(-1.5F));
            return MakeNode(op, attributes, inputs);
          }};
}

RandomNode MakeCrossEntropy(Dice& dice, int64_t elements) {
  const bool from_logits = dice.OneIn(2);
  return MakeNode(OpId::binary_cross_entropy,
                  Attributes::Of(BinaryCrossEntropyAttributes{from_logits}),
                  AnyPair(dice, elements, true, !from_logits));
}

RandomNode MakeCrossEntropyGrad(Dice& dice, int64_t elements) {
  const bool from_logits = dice.OneIn(2), of_target = dice.OneIn(3);
  Inputs inputs = AnyPair(dice, elements, !of_target, !from_logits);
  inputs.push_back(HostTensor::Scalar<float>(0.7F));
  return MakeNode(OpId::binary_cross_entropy_grad,
                  Attributes::Of(BinaryCrossEntropyGradAttributes{from_logits, of_target}), inputs);
}

// Parameter, gradient and rate; then states, none of them negative.
Inputs OptimizerInputs(Dice& dice, int64_t elements, int states) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64});
  const Shape shape = AnyShape(dice, elements);
  Inputs inputs = {Numbers(dice, dtype, shape, Specials::kZeros), Numbers(dice, dtype, shape),
                   HostTensor::Scalar<double>(0.01)};
  for (int s = 0; s < states; ++s) {
    HostTensor state = Numbers(dice, dtype, shape, Specials::kZeros);
    for (int64_t i = 0; i < state.elements(); ++i) state.Set(i, std::abs(state.At(i)));
    inputs.push_back(std::move(state));
  }
  return inputs;
}

RandomNode MakeAdamw(Dice& dice, int64_t elements) {
  AdamwAttributes adamw;
  adamw.weight_decay = dice.OneIn(2) ? 0.1 : 0;
  adamw.l2 = dice.OneIn(2) ? 5e-4 : 0;
  Inputs inputs = OptimizerInputs(dice, elements, 2);
  inputs.push_back(HostTensor::Scalar<int64_t>(dice.Between(0, 1000)));
  return MakeNode(OpId::adamw, Attributes::Of(adamw), inputs);
}

RandomNode MakeRmsprop(Dice& dice, int64_t elements) {
  RmspropAttributes rmsprop;
  rmsprop.centered = dice.OneIn(2);
  rmsprop.momentum = dice.OneIn(2) ? 0.9 : 0;
  rmsprop.weight_decay = dice.OneIn(2) ? 5e-4 : 0;
  const int states = 1 + (rmsprop.centered ? 1 : 0) + (rmsprop.momentum > 0 ? 1 : 0);
  return MakeNode(OpId::rmsprop, Attributes::Of(rmsprop), OptimizerInputs(dice, elements, states));
}

RandomNode MakeAdagrad(Dice& dice, int64_t elements) {
  AdagradAttributes adagrad;
  adagrad.lr_decay = dice.OneIn(2) ? 1e-2 : 0;
  adagrad.l1 = dice.OneIn(2) ? 1e-3 : 0;
  Inputs inputs = OptimizerInputs(dice, elements, 1);
  inputs.push_back(HostTensor::Scalar<int64_t>(dice.Between(0, 1000)));
  return MakeNode(OpId::adagrad, Attributes::Of(adagrad), inputs);
}

RandomNode MakeNormScale(Dice& dice, int64_t elements) {
  Inputs inputs;
  for (int64_t i = 0, n = dice.Between(1, 4); i < n; ++i) {
    const Specials specials = dice.OneIn(12) ? Specials::kAll : Specials::kZeros;
    inputs.push_back(Numbers(dice, DType::kF32, AnyShape(dice, elements), specials));
  }
  return MakeNode(OpId::norm_scale, Attributes::Of(NormScaleAttributes{dice.Of<double>({1, 20})}),
                  inputs);
}

}  // namespace

std::vector<CpuCase> TrainingCases() {
  return {
      {OpId::log_softmax, kSums, MakeLogSoftmax},
      {OpId::log_softmax_grad, kDifferences, MakeLogSoftmaxGrad},
      {OpId::layer_norm, kSums, MakeLayerNorm},
      {OpId::layer_norm_grad, {4e-6, 1e-5}, MakeLayerNormGrad},
      {OpId::embedding, kSameBits, MakeEmbedding},
      {OpId::gather, kSameBits, MakeGather},
      {OpId::embedding_grad, kSameBits, MakeEmbeddingGrad},
      {OpId::binary_cross_entropy, kRounding, MakeCrossEntropy},
      {OpId::binary_cross_entropy_grad, kDifferences, MakeCrossEntropyGrad},
      Loss(OpId::absolute_error, false),
      LossGrad(OpId::absolute_error_grad, false),
      Loss(OpId::hinge, true),
      LossGrad(OpId::hinge_grad, true),
      Loss(OpId::huber, false, Attributes::Of(HuberAttributes{0.75})),
      LossGrad(OpId::huber_grad, false, Attributes::Of(HuberGradAttributes{0.75, 2})),
      Loss(OpId::smooth_l1, false, Attributes::Of(SmoothL1Attributes{0.75})),
      {OpId::adamw, kSameBits, MakeAdamw},
      {OpId::rmsprop, kSameBits, MakeRmsprop},
      {OpId::adagrad, kSameBits, MakeAdagrad},
      {OpId::norm_scale, kRounding, MakeNormScale},
  };
}

}  // namespace cgrun
