// Makes cases of layers, losses and optimizers.
#include <cmath>
#include <string>

#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/dropout.h"
#include "src/ops/linear.h"
#include "src/ops/loss.h"
#include "src/ops/matmul.h"
#include "src/ops/normalize.h"
#include "src/ops/optimizer.h"
#include "src/ops/pool.h"
#include "src/ops/random.h"
#include "src/ops/resize.h"
#include "src/ops/roi_align.h"
#include "src/ops/softmax.h"
#include "tests/kernels/random_tensors.h"

namespace cgrun {
namespace {

RandomNode MakeNormalize(Dice& dice, int64_t elements) {
  const Shape shape = AnyImages(dice, elements);
  const bool bytes = dice.OneIn(2);
  NormalizeAttributes attributes{1.0 / 255, {0.1307}, {0.3081}};
  for (int64_t c = 1; dice.OneIn(2) && c < shape[1].size; ++c) {
    if (attributes.mean.size() == static_cast<size_t>(c)) attributes.mean.push_back(0.1 * c);
  }
  if (attributes.mean.size() != static_cast<size_t>(shape[1].size)) attributes.mean.resize(1);
  return MakeNode(OpId::normalize, Attributes::Of(attributes),
                  {bytes ? Integers(dice, DType::kU8, shape, 0, 255)
                         : Numbers(dice, DType::kF32, shape, Specials::kAll)});
}

CpuCase Resize(const std::string& mode, Tolerance tolerance) {
  return {OpId::resize, tolerance, [=](Dice& dice, int64_t elements) {
            const Shape x = AnyImages(dice, elements);
            const ResizeAttributes resize{
                {dice.Between(1, 2 * x[2].size), dice.Between(1, 2 * x[3].size)}, mode};
            const DType dtype = mode == "nearest" ? AnyFloat(dice) : DType::kF32;
            return MakeNode(OpId::resize, Attributes::Of(resize), {Numbers(dice, dtype, x)});
          }};
}

RandomNode MakeResizeGrad(Dice& dice, int64_t elements) {
  const Shape dy = AnyImages(dice, elements);
  const ResizeAttributes resize{{dice.Between(1, 2 * dy[2].size), dice.Between(1, 2 * dy[3].size)},
                                dice.OneIn(2) ? "nearest" : "bilinear"};
  return MakeNode(OpId::resize_grad, Attributes::Of(resize), {Numbers(dice, DType::kF32, dy)});
}

// Boxes that may reach over the edges, and be turned inside out.
RandomNode MakeRoiAlign(Dice& dice, int64_t elements) {
  const Shape map = AnyImages(dice, elements);
  RoiAlignAttributes align{{dice.Between(1, 7), dice.Between(1, 7)}, {2}, dice.Between(1, 3)};
  align.aligned = dice.OneIn(2);
  HostTensor boxes = Numbers(dice, DType::kF32, {map[0], dice.Between(1, 9), 4}, Specials::kNone,
                             static_cast<double>(map[2].size + map[3].size));
  std::vector<HostTensor> inputs = {boxes, Numbers(dice, DType::kF32, map)};
  if (dice.OneIn(2)) {
    align.strides.push_back(3);
    inputs.push_back(Numbers(dice, DType::kF32, {map[0], map[1], dice.Between(1, 9), 5}));
  }
  return MakeNode(OpId::roi_align, Attributes::Of(align), std::move(inputs));
}

RandomNode MakeSoftmax(Dice& dice, int64_t elements) {
  const Shape x = AnyShape(dice, 1, 4, elements);
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  return MakeNode(OpId::softmax, Attributes::Of(SoftmaxAttributes{dice.Between(0, x.rank() - 1)}),
                  {Numbers(dice, DType::kF32, x, specials, 5)});
}

RandomNode MakeSoftmaxGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeSoftmax(dice, elements);
  const HostTensor y = Evaluated(forward)[0];
  return MakeNode(OpId::softmax_grad, forward.node.attributes,
                  {y, Numbers(dice, DType::kF32, y.shape())});
}

// The logits are [N, classes], or [N, classes, …] with a label for each place.
Sizes LogitSizes(Dice& dice, int64_t elements) {
  return AnySizes(dice, dice.OneIn(2) ? 2 : static_cast<int>(dice.Between(3, 4)), elements);
}

Shape LabelShape(Sizes logits) {
  logits.erase(logits.begin() + 1);
  return Shape::Of(logits);
}

RandomNode MakeCrossEntropy(Dice& dice, int64_t elements) {
  const Sizes sizes = LogitSizes(dice, elements);
  const DType label = dice.Of<DType>({DType::kU8, DType::kI32, DType::kI64});
  const int64_t most = std::min<int64_t>(sizes[1] - 1, 255);
  HostTensor labels = Integers(dice, label, LabelShape(sizes), 0, most);
  if (dice.OneIn(6)) labels.Set(0, static_cast<double>(label == DType::kU8 ? 255 : -1));
  const double smoothing = dice.Of<double>({0.0, 0.0, 0.1, 1.0});
  RealList weights;
  for (int64_t c = 0, n = dice.OneIn(3) ? sizes[1] : 0; c < n; ++c) {
    weights.push_back(dice.Of<double>({0.0, 0.3, 1.0, 2.0}));
  }
  IntList ignored;
  if (dice.OneIn(3)) ignored = {dice.Between(-1, most), dice.Between(-1, most)};
  return MakeNode(OpId::softmax_cross_entropy,
                  Attributes::Of(SoftmaxCrossEntropyAttributes{smoothing, weights, ignored}),
                  {Numbers(dice, DType::kF32, Shape::Of(sizes), Specials::kNone, 4), labels});
}

RandomNode MakeCrossEntropyGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeCrossEntropy(dice, elements);
  return MakeNode(OpId::softmax_cross_entropy_grad, forward.node.attributes,
                  {Evaluated(forward)[1], forward.inputs[1], HostTensor::Scalar<float>(0.7F)});
}

RandomNode MakeSquaredError(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  return MakeNode(OpId::squared_error, {},
                  {Numbers(dice, DType::kF32, shape), Numbers(dice, DType::kF32, shape)});
}

RandomNode MakeSquaredErrorGrad(Dice& dice, int64_t elements) {
  RandomNode forward = MakeSquaredError(dice, elements);
  forward.inputs.push_back(HostTensor::Scalar<float>(1.5F));
  return MakeNode(OpId::squared_error_grad, {}, forward.inputs);
}

RandomNode MakeAccuracy(Dice& dice, int64_t elements) {
  const Sizes sizes = LogitSizes(dice, elements);
  HostTensor logits = Numbers(dice, DType::kF32, Shape::Of(sizes), Specials::kAll);
  for (int64_t i = 0; i < logits.elements(); ++i) logits.Set(i, std::round(2 * logits.At(i)));
  AccuracyAttributes attributes{dice.Between(1, sizes[1])};
  if (dice.OneIn(3)) attributes.ignore_label = {dice.Between(0, sizes[1]), -1};
  return MakeNode(OpId::accuracy, Attributes::Of(attributes),
                  {logits, Integers(dice, DType::kI64, LabelShape(sizes), 0, sizes[1])});
}

ConvAttributes AnyConv(Dice& dice, const Shape& x) {
  const auto size = [&](int axis) { return dice.Between(1, std::min<int64_t>(5, x[axis].size)); };
  ConvAttributes conv;
  conv.kernel = {size(2), size(3)};
  conv.groups = dice.OneIn(4) ? x[1].size : 1;
  conv.filters = conv.groups * dice.Between(1, conv.groups > 1 ? 3 : 40);
  conv.bias = dice.OneIn(2);
  if (dice.OneIn(3)) conv.stride = {dice.Between(1, 3), dice.Between(1, 3)};
  if (dice.OneIn(3) && x[2].size > 8 && x[3].size > 8) conv.dilation = {2, 2};
  for (int64_t& width : conv.padding) width = dice.OneIn(2) ? 0 : dice.Between(0, 3);
  if (x[3].size == 1) conv.padding[1] = conv.padding[3] = 0;
  return conv;
}

// Returns images, of which some are one pixel wide: kernels turn these on their side.
Shape ImagesOrColumns(Dice& dice, int64_t elements) {
  const Shape x = AnyImages(dice, elements);
  return dice.OneIn(8) ? Shape{x[0], x[1], x[2].size * x[3].size, 1} : x;
}

RandomNode MakeConv(Dice& dice, int64_t elements) {
  const Shape x = ImagesOrColumns(dice, elements);
  const ConvAttributes conv = AnyConv(dice, x);
  const Shape weight = ConvWeightShape(conv.filters, x[1].size, conv.groups, conv.kernel);
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  std::vector<HostTensor> inputs = {Numbers(dice, DType::kF32, x, specials),
                                    Numbers(dice, DType::kF32, weight)};
  if (conv.bias) inputs.push_back(Numbers(dice, DType::kF32, {conv.filters}));
  return MakeNode(OpId::conv, Attributes::Of(conv), std::move(inputs));
}

RandomNode MakeConvInputGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeConv(dice, elements);
  const auto& conv = forward.node.attributes.As<ConvAttributes>();
  return MakeNode(
      OpId::conv_input_grad,
      Attributes::Of(ConvGradAttributes{forward.inputs[0].shape(), conv.kernel, conv.stride,
                                        conv.padding, conv.dilation, conv.groups}),
      {Numbers(dice, DType::kF32, forward.node.outputs[0].shape), forward.inputs[1]});
}

ConvTransposeAttributes AnyConvTranspose(Dice& dice, const Shape& x) {
  ConvTransposeAttributes up;
  up.kernel = {dice.Between(1, 5), dice.Between(1, 5)};
  up.groups = dice.OneIn(4) ? x[1].size : 1;
  up.filters = up.groups * dice.Between(1, up.groups > 1 ? 3 : 20);
  up.bias = dice.OneIn(2);
  if (!dice.OneIn(3)) up.stride = {dice.Between(1, 3), dice.Between(1, 3)};
  if (dice.OneIn(3)) up.dilation = {2, 2};
  for (int64_t& width : up.padding) width = dice.Between(0, 1);
  if (x[3].size == 1) up.kernel[1] = 1, up.padding[1] = up.padding[3] = 0;
  for (size_t axis : {0u, 1u}) {
    if (dice.OneIn(2)) continue;
    up.output_padding[axis] = dice.Between(0, std::max(up.stride[axis], up.dilation[axis]) - 1);
  }
  return up;
}

RandomNode MakeConvTranspose(Dice& dice, int64_t elements) {
  const Shape x = ImagesOrColumns(dice, elements);
  const ConvTransposeAttributes up = AnyConvTranspose(dice, x);
  const Shape weight = {x[1], up.filters / up.groups, up.kernel[0], up.kernel[1]};
  const Specials specials = dice.OneIn(4) ? Specials::kZeros : Specials::kNone;
  std::vector<HostTensor> inputs = {Numbers(dice, DType::kF32, x, specials),
                                    Numbers(dice, DType::kF32, weight)};
  if (up.bias) inputs.push_back(Numbers(dice, DType::kF32, {up.filters}));
  return MakeNode(OpId::conv_transpose, Attributes::Of(up), std::move(inputs));
}

DType F32OrBF16(Dice& dice) { return dice.Of<DType>({DType::kF32, DType::kBF16}); }

template <class PoolAttributes>
PoolAttributes AnyPool(Dice& dice, const Shape& x) {
  PoolAttributes pool;
  pool.kernel = {dice.Between(1, std::min<int64_t>(4, x[2].size)),
                 dice.Between(1, std::min<int64_t>(4, x[3].size))};
  if (!dice.OneIn(3)) pool.stride = {dice.Between(1, 3), dice.Between(1, 3)};
  for (int64_t& width : pool.padding) {
    width = dice.OneIn(2) ? 0 : dice.Between(0, std::min(pool.kernel[0], pool.kernel[1]) / 2);
  }
  pool.ceil_mode = dice.OneIn(3);
  return pool;
}

RandomNode MakeMaxPool(Dice& dice, int64_t elements) {
  const DType dtype = F32OrBF16(dice);
  HostTensor x = Numbers(dice, dtype, AnyImages(dice, elements), Specials::kAll);
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::round(4 * x.At(i)));  // equals
  return AnyMaxPoolOf(dice, x);
}

RandomNode MakeMaxPoolGrad(Dice& dice, int64_t elements) {
  return GradientOf(dice, MakeMaxPool(dice, elements));
}

RandomNode MakeAvgPool(Dice& dice, int64_t elements) {
  const Shape shape = AnyImages(dice, elements);
  auto pool = AnyPool<AvgPoolAttributes>(dice, shape);
  pool.count_include_pad = dice.OneIn(2);
  return MakeNode(OpId::avg_pool, Attributes::Of(pool), {Numbers(dice, F32OrBF16(dice), shape)});
}

RandomNode MakeAvgPoolGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeAvgPool(dice, elements);
  const auto& pool = forward.node.attributes.As<AvgPoolAttributes>();
  PoolGradAttributes grad{forward.inputs[0].shape(), pool.kernel, pool.stride, pool.padding};
  grad.ceil_mode = pool.ceil_mode;
  grad.count_include_pad = pool.count_include_pad;
  return MakeNode(OpId::avg_pool_grad, Attributes::Of(grad),
                  {Numbers(dice, forward.inputs[0].dtype(), forward.node.outputs[0].shape)});
}

RandomNode MakeGlobalAvgPool(Dice& dice, int64_t elements) {
  const Shape x = AnyShape(dice, 3, 5, elements);
  return MakeNode(OpId::global_avg_pool, {}, {Numbers(dice, F32OrBF16(dice), x)});
}

// x [N, channels, …], scale, shift, and statistics.
std::vector<HostTensor> NormInputs(Dice& dice, int64_t elements) {
  const Shape x = Shape::Of(AnySizes(dice, dice.OneIn(3) ? 2 : 4, elements));
  const auto channels = [&] { return Numbers(dice, DType::kF32, {x[1]}); };
  HostTensor variance = channels();
  for (int64_t c = 0; c < variance.elements(); ++c) variance.Set(c, std::abs(variance.At(c)) + 0.1);
  HostTensor values = Numbers(dice, F32OrBF16(dice), x);
  const double shift = dice.Of<double>({0.0, 5.0, -300.0});
  for (int64_t i = 0; i < values.elements(); ++i) values.Set(i, values.At(i) + shift);
  return {values, channels(), channels(), channels(), variance};
}

// Clipped on no side, as a relu does, or on both.
Attributes AnyNorm(Dice& dice, bool training) {
  BatchNormAttributes norm{.epsilon = 1e-5, .training = training};
  if (dice.OneIn(2)) norm.min = dice.Of<double>({0, -0.25});
  if (std::isfinite(norm.min) && dice.OneIn(2)) norm.max = 0.5;
  return Attributes::Of(norm);
}

RandomNode MakeBatchNorm(Dice& dice, int64_t elements) {
  return MakeNode(OpId::batch_norm, AnyNorm(dice, dice.OneIn(2)), NormInputs(dice, elements));
}

RandomNode MakeBatchNormApply(Dice& dice, int64_t elements) {
  return MakeNode(OpId::batch_norm_apply, AnyNorm(dice, true), NormInputs(dice, elements));
}

RandomNode MakeBatchNormGrad(Dice& dice, int64_t elements) {
  std::vector<HostTensor> in = NormInputs(dice, elements);
  const HostTensor dy = Numbers(dice, in[0].dtype(), in[0].shape());
  const Attributes attributes = AnyNorm(dice, dice.OneIn(2));
  std::vector<HostTensor> inputs = {in[0], dy, in[1], in[3], in[4]};
  if (attributes.As<BatchNormAttributes>().clips()) inputs.push_back(in[2]);
  return MakeNode(OpId::batch_norm_grad, attributes, std::move(inputs));
}

RandomNode MakeNormAdd(Dice& dice, int64_t elements, OpId op) {
  std::vector<HostTensor> in = NormInputs(dice, elements);
  in.insert(in.begin() + 1, Numbers(dice, in[0].dtype(), in[0].shape()));
  return MakeNode(op, AnyNorm(dice, true), in);
}

RandomNode MakeBatchNormAdd(Dice& dice, int64_t elements) {
  return MakeNormAdd(dice, elements, OpId::batch_norm_add);
}

RandomNode MakeBatchNormAddApply(Dice& dice, int64_t elements) {
  return MakeNormAdd(dice, elements, OpId::batch_norm_add_apply);
}

RandomNode MakeBatchNormAddGrad(Dice& dice, int64_t elements) {
  const std::vector<HostTensor> in = NormInputs(dice, elements);
  const auto like_x = [&] { return Numbers(dice, in[0].dtype(), in[0].shape()); };
  BatchNormAttributes norm{.min = dice.Of<double>({0, -0.25})};
  if (dice.OneIn(2)) norm.max = 0.5;
  std::vector<HostTensor> inputs = {in[0], like_x(), in[1], in[3], in[4], like_x()};
  if (dice.OneIn(2)) inputs.push_back(like_x());
  return MakeNode(OpId::batch_norm_add_grad, Attributes::Of(norm), std::move(inputs));
}

std::vector<HostTensor> AnyStep(Dice& dice) {
  return {HostTensor::Scalar<int64_t>(dice.Between(0, 5) * 0x87654321)};
}

RandomNode MakeDropout(Dice& dice, int64_t elements) {
  const DropoutAttributes dropout{dice.Of<double>({0.0, 0.1, 0.5, 1.0 / 3, 0.99}),
                                  dice.Between(-1000, 1000) * 0x123456789, !dice.OneIn(4)};
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kBF16});
  const HostTensor x = Numbers(dice, dtype, AnyShape(dice, elements), Specials::kAll);
  return MakeNode(OpId::dropout, Attributes::Of(dropout),
                  dropout.training ? std::vector{x, AnyStep(dice)[0]} : std::vector{x});
}

RandomNode MakeRandomNormal(Dice& dice, int64_t elements) {
  const RandomNormalAttributes normal{AnyShape(dice, elements), dice.Of<double>({0.0, -3.5}),
                                      dice.Of<double>({0.0, 0.02, 1.0, 7.0}), DType::kF32,
                                      dice.Between(-1000, 1000) * 0x123456789};
  return MakeNode(OpId::random_normal, Attributes::Of(normal), AnyStep(dice));
}

RandomNode MakeRandomUniform(Dice& dice, int64_t elements) {
  const RandomUniformAttributes uniform{AnyShape(dice, elements), dice.Of<double>({0.0, -2.5}),
                                        dice.Of<double>({1.0, 0.1, 9.0}), DType::kF32,
                                        dice.Between(-1000, 1000) * 0x123456789};
  return MakeNode(OpId::random_uniform, Attributes::Of(uniform), AnyStep(dice));
}

RandomNode MakeSgd(Dice& dice, int64_t elements) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64});
  const Shape shape = AnyShape(dice, elements);
  SgdAttributes sgd;
  sgd.momentum = dice.OneIn(3) ? 0 : 0.9;
  sgd.nesterov = sgd.momentum > 0 && dice.OneIn(2);
  sgd.weight_decay = dice.OneIn(2) ? 5e-4 : 0;
  sgd.l1 = dice.OneIn(2) ? 1e-3 : 0;
  std::vector<HostTensor> inputs = {Numbers(dice, dtype, shape, Specials::kZeros),
                                    Numbers(dice, dtype, shape), HostTensor::Scalar<double>(0.05)};
  if (sgd.momentum > 0) inputs.push_back(Numbers(dice, dtype, shape));
  return MakeNode(OpId::sgd, Attributes::Of(sgd), inputs);
}

RandomNode MakeAdam(Dice& dice, int64_t elements) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64});
  const Shape shape = AnyShape(dice, elements);
  AdamAttributes adam;
  adam.weight_decay = dice.OneIn(2) ? 5e-4 : 0;
  HostTensor second = Numbers(dice, dtype, shape);
  for (int64_t i = 0; i < second.elements(); ++i) second.Set(i, std::abs(second.At(i)));
  return MakeNode(OpId::adam, Attributes::Of(adam),
                  {Numbers(dice, dtype, shape, Specials::kZeros), Numbers(dice, dtype, shape),
                   HostTensor::Scalar<double>(0.001), Numbers(dice, dtype, shape), second,
                   HostTensor::Scalar<int64_t>(dice.Between(0, 1000))});
}

RandomNode MakeAccumulate(Dice& dice, int64_t elements) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64});
  const Shape shape = AnyShape(dice, elements);
  const HostTensor factors = HostTensor::Of<double>({2}, {dice.OneIn(2) ? 1.0 : 0.0, 0.25});
  return MakeNode(OpId::accumulate, Attributes(),
                  {Numbers(dice, dtype, shape, Specials::kZeros),
                   Numbers(dice, dtype, shape, Specials::kZeros), factors});
}

}  // namespace

RandomNode AnyMaxPoolOf(Dice& dice, const HostTensor& x) {
  const Shape& shape = x.shape();
  auto pool = AnyPool<MaxPoolAttributes>(dice, shape);
  if (dice.OneIn(3) && shape[2].size > 8 && shape[3].size > 8) pool.dilation = {2, 2};
  return MakeNode(OpId::max_pool, Attributes::Of(pool), {x});
}

RandomNode GradientOf(Dice& dice, const RandomNode& max_pool) {
  const HostTensor index = Evaluated(max_pool)[1];
  const auto& pool = max_pool.node.attributes.As<MaxPoolAttributes>();
  return MakeNode(
      OpId::max_pool_grad,
      Attributes::Of(PoolGradAttributes{max_pool.inputs[0].shape(), pool.kernel, pool.stride,
                                        pool.padding, pool.dilation, pool.ceil_mode}),
      {index, Numbers(dice, max_pool.inputs[0].dtype(), index.shape())});
}

RandomNode AnyConvNode(Dice& dice, int64_t elements) { return MakeConv(dice, elements); }

RandomNode AnyConvWeightGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeConv(dice, elements);
  const auto& conv = forward.node.attributes.As<ConvAttributes>();
  return MakeNode(
      OpId::conv_weight_grad,
      Attributes::Of(ConvGradAttributes{forward.inputs[0].shape(), conv.kernel, conv.stride,
                                        conv.padding, conv.dilation, conv.groups}),
      {forward.inputs[0], Numbers(dice, DType::kF32, forward.node.outputs[0].shape)});
}

// As the gradient of a linear layer's weight.
RandomNode MakeWeightProduct(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 3, elements);  // all three: the product has the last two
  return MakeNode(OpId::matmul, Attributes::Of(MatmulAttributes{true, false}),
                  {Numbers(dice, DType::kF32, Shape{sizes[0], sizes[1]}),
                   Numbers(dice, DType::kF32, Shape{sizes[0], sizes[2]})});
}

// As the gradient of what a linear layer reads.
RandomNode MakeInputProduct(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 3, elements);
  const int64_t rows = 24 + sizes[0], columns = 32 + sizes[2];
  return MakeNode(OpId::matmul, Attributes::Of(MatmulAttributes{}),
                  {Numbers(dice, DType::kF32, Shape{rows, sizes[1]}),
                   Numbers(dice, DType::kF32, Shape{sizes[1], columns})});
}

// The rows may stand on several axes.
RandomNode MakeLinear(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 3, elements);  // all three: x has the last two
  const int64_t rows = dice.OneIn(4) ? sizes[1] : 16 * dice.Between(1, 5);
  const int64_t units = 47 + sizes[0], features = sizes[2];
  const bool bias = dice.OneIn(2);
  const Shape x =
      rows % 2 == 0 && dice.OneIn(3) ? Shape{rows / 2, 2, features} : Shape{rows, features};
  std::vector<HostTensor> inputs = {Numbers(dice, DType::kF32, x),
                                    Numbers(dice, DType::kF32, Shape{units, features})};
  if (bias) inputs.push_back(Numbers(dice, DType::kF32, Shape{units}));
  return MakeNode(OpId::linear, Attributes::Of(LinearAttributes{units, bias}), inputs);
}

std::vector<CpuCase> LayerCases() {
  return {
      {OpId::softmax, kSums, MakeSoftmax},
      {OpId::softmax_grad, kDifferences, MakeSoftmaxGrad},
      {OpId::normalize, kRounding, MakeNormalize},
      Resize("nearest", kSameBits),
      Resize("bilinear", kRounding),
      {OpId::resize_grad, kRounding, MakeResizeGrad},
      {OpId::roi_align, kDifferences, MakeRoiAlign},
      {OpId::matmul, kDifferences, MakeWeightProduct},
      {OpId::matmul, kDifferences, MakeInputProduct},
      {OpId::linear, kDifferences, MakeLinear},
      {OpId::conv, kDifferences, MakeConv},
      {OpId::conv_input_grad, kDifferences, MakeConvInputGrad},
      {OpId::conv_transpose, kDifferences, MakeConvTranspose},
      {OpId::max_pool, kSameBits, MakeMaxPool},
      {OpId::max_pool_grad, kSameBits, MakeMaxPoolGrad},
      {OpId::avg_pool, kSameBits, MakeAvgPool},
      {OpId::avg_pool_grad, kSameBits, MakeAvgPoolGrad},
      {OpId::global_avg_pool, kRounding, MakeGlobalAvgPool},
      {OpId::batch_norm, kSums, MakeBatchNorm},
      {OpId::batch_norm_apply, kSums, MakeBatchNormApply},
      {OpId::batch_norm_grad, kSums, MakeBatchNormGrad},
      {OpId::batch_norm_add, kSums, MakeBatchNormAdd},
      {OpId::batch_norm_add_apply, kSums, MakeBatchNormAddApply},
      {OpId::batch_norm_add_grad, kSums, MakeBatchNormAddGrad},
      {OpId::dropout, kSameBits, MakeDropout},
      {OpId::random_normal, kRounding, MakeRandomNormal},
      {OpId::random_uniform, kRounding, MakeRandomUniform},
      {OpId::softmax_cross_entropy, kSums, MakeCrossEntropy},
      {OpId::softmax_cross_entropy_grad, kSums, MakeCrossEntropyGrad},
      {OpId::squared_error, kRounding, MakeSquaredError},
      {OpId::squared_error_grad, kRounding, MakeSquaredErrorGrad},
      {OpId::accuracy, kSameBits, MakeAccuracy},
      {OpId::sgd, kSameBits, MakeSgd},
      {OpId::adam, kSameBits, MakeAdam},
      {OpId::accumulate, kSameBits, MakeAccumulate},
  };
}

}  // namespace cgrun
