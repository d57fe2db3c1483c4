// The families of nodes. Sizes are drawn so that many are not a whole number of vectors.
#include "tests/kernels/cpu_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/ir/op_def.h"
#include "src/kernels/kernel.h"
#include "src/ops/batch_norm.h"
#include "src/ops/cast.h"
#include "src/ops/concat.h"
#include "src/ops/dropout.h"
#include "src/ops/infer.h"
#include "src/ops/leaky_relu.h"
#include "src/ops/loss.h"
#include "src/ops/normalize.h"
#include "src/ops/optimizer.h"
#include "src/ops/pad.h"
#include "src/ops/pool.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/resize.h"
#include "src/ops/slice.h"
#include "src/ops/softmax.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Tolerance kSameBits{0};
constexpr Tolerance kRounding{1e-6};  // some units in the last place
constexpr Tolerance kSums{4e-6};
constexpr Tolerance kDifferences{4e-6, 1e-6};  // of numbers of about 1, which may cancel

using Sizes = std::vector<int64_t>;

// `rank` sizes whose product is about `elements` at most.
Sizes AnySizes(Dice& dice, int rank, int64_t elements) {
  Sizes sizes(static_cast<size_t>(rank), 1);
  if (rank == 0) return sizes;
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::swap(order[0], order[static_cast<size_t>(dice.Between(0, rank - 1))]);
  for (size_t axis : order) {
    sizes[axis] = dice.OneIn(8) ? 1 : dice.Between(1, std::max<int64_t>(1, elements));
    elements /= sizes[axis];
    if (sizes[axis] > 40 && rank > 1 && !dice.OneIn(3)) {  // leave something for the others
      const int64_t part = dice.Between(2, 40);
      elements *= sizes[axis] / part;
      sizes[axis] = part;
    }
  }
  return sizes;
}

Shape AnyShape(Dice& dice, int64_t elements) {
  return Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(0, 4)), elements));
}

// Images [N, C, H, W].
Shape AnyImages(Dice& dice, int64_t elements) {
  const int64_t side = std::max<int64_t>(4, static_cast<int64_t>(std::sqrt(elements / 6)));
  const int64_t height = dice.Between(4, side), width = dice.Between(4, side);
  const int64_t planes = std::max<int64_t>(1, elements / (height * width));
  const int64_t images = dice.Between(1, std::min<int64_t>(planes, 9));
  return Shape::Of({images, dice.Between(1, std::max<int64_t>(1, planes / images)), height, width});
}

DType AnyFloat(Dice& dice) {
  return dice.Of<DType>({DType::kF32, DType::kF32, DType::kBF16, DType::kF64});
}

enum class Specials { kNone, kZeros, kAll };  // among the numbers

HostTensor Numbers(Dice& dice, DType dtype, const Shape& shape, Specials specials = Specials::kNone,
                   double scale = 1) {
  HostTensor tensor(dtype, shape);
  const auto key = static_cast<uint64_t>(dice.Between(1, 1 << 30));
  const int64_t rare = dice.Between(3, 50);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const auto at = static_cast<uint64_t>(i);
    tensor.Set(i, scale * RandomNormal(key, 0, at));
    const uint32_t bits = RandomBits(key, 1, at);
    if (specials == Specials::kNone || bits % static_cast<uint32_t>(rare) != 0) continue;
    const double values[] = {0.0, -0.0, kInfinity, -kInfinity, kNaN};
    tensor.Set(i, values[bits / 64 % (specials == Specials::kAll ? 5 : 2)]);
  }
  return tensor;
}

HostTensor Integers(Dice& dice, DType dtype, const Shape& shape, int64_t low, int64_t high) {
  HostTensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.Set(i, static_cast<double>(dice.Between(low, high)));
  }
  return tensor;
}

RandomNode Node(OpId op, Attributes attributes, std::vector<HostTensor> inputs) {
  RandomNode random{{op, std::move(attributes), {}, {}, {}}, std::move(inputs)};
  for (const HostTensor& input : random.inputs) {
    random.node.inputs.push_back({input.dtype(), input.shape()});
  }
  InferContext context(random.node.attributes, random.node.inputs);
  random.node.outputs = InferTypes(op, context);
  CGRUN_CHECK(!context.failed()) << NameOf(op) << ": " << context.message();
  return random;
}

// What the reference kernel makes of it.
std::vector<HostTensor> Evaluated(const RandomNode& random) {
  return FindKernelLibrary("reference")->Evaluate(random.node, random.inputs).value();
}

CpuCase Unary(OpId op, Tolerance tolerance, double scale = 3) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            Attributes attributes;
            if (op == OpId::leaky_relu) attributes = Attributes::Of(LeakyReluAttributes{0.3});
            return Node(
                op, attributes,
                {Numbers(dice, AnyFloat(dice), AnyShape(dice, elements), Specials::kAll, scale)});
          }};
}

// Gradients of activations: of y, or x, and dy.
CpuCase UnaryGrad(OpId op, Tolerance tolerance) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            Attributes attributes;
            if (op == OpId::leaky_relu_grad) attributes = Attributes::Of(LeakyReluAttributes{0.3});
            const DType dtype = AnyFloat(dice);
            const Shape shape = AnyShape(dice, elements);
            HostTensor y = Numbers(dice, dtype, shape, Specials::kAll);
            for (int64_t i = 0; op == OpId::softplus_grad && i < y.elements(); ++i) {
              y.Set(i, std::abs(y.At(i)));
            }
            return Node(op, attributes, {y, Numbers(dice, dtype, shape, Specials::kAll)});
          }};
}

// Sizes of `whole` with some axes 1 and some leading ones left out.
Shape Broadcastable(Dice& dice, const Sizes& whole) {
  Sizes sizes = whole;
  const bool whole_again = dice.OneIn(3);
  for (int64_t& size : sizes) size = whole_again || dice.OneIn(2) ? size : 1;
  const int64_t dropped = whole_again ? 0 : dice.Between(0, std::ssize(sizes));
  sizes.erase(sizes.begin(), sizes.begin() + dropped);
  return Shape::Of(sizes);
}

CpuCase Arithmetic(OpId op) {
  return {op, kSameBits, [=](Dice& dice, int64_t elements) {
            const DType dtype = AnyFloat(dice);
            const Sizes sizes = AnySizes(dice, static_cast<int>(dice.Between(0, 5)), elements);
            const HostTensor a = Numbers(dice, dtype, Broadcastable(dice, sizes), Specials::kAll);
            const HostTensor b = Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll);
            return Node(op, {}, dice.OneIn(2) ? std::vector{a, b} : std::vector{b, a});
          }};
}

RandomNode MakeBias(Dice& dice, int64_t elements) {
  const DType dtype = AnyFloat(dice);
  const Shape x = Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(2, 5)), elements));
  return Node(OpId::bias, {}, {Numbers(dice, dtype, x), Numbers(dice, dtype, {x[1]})});
}

IntList AnyAxes(Dice& dice, int rank) {
  IntList axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (dice.OneIn(2)) axes.push_back(axis);
  }
  return axes;
}

CpuCase Reduction(OpId op, Specials specials, Tolerance tolerance) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            const Shape x = AnyShape(dice, elements);
            const DType dtype = dice.Of<DType>({DType::kF32, DType::kF32, DType::kBF16});
            return Node(op,
                        Attributes::Of(ReduceAttributes{AnyAxes(dice, x.rank()), dice.OneIn(2)}),
                        {Numbers(dice, dtype, x, specials)});
          }};
}

RandomNode MakeReduceMaxGrad(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  HostTensor x = Numbers(dice, DType::kF32, shape, Specials::kAll);
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::round(2 * x.At(i)));  // equals
  const Attributes attributes =
      Attributes::Of(ReduceAttributes{AnyAxes(dice, shape.rank()), dice.OneIn(2)});
  const HostTensor y = Evaluated(Node(OpId::reduce_max, attributes, {x}))[0];
  return Node(OpId::reduce_max_grad, attributes,
              {x, y, Numbers(dice, DType::kF32, y.shape(), Specials::kAll)});
}

RandomNode MakeBroadcast(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, static_cast<int>(dice.Between(0, 4)), elements);
  Sizes from = sizes;
  for (int64_t& size : from) size = dice.OneIn(2) ? 1 : size;
  const bool average = dice.OneIn(2);
  const DType dtype =
      average ? DType::kF32 : dice.Of<DType>({DType::kF32, DType::kI64, DType::kU8, DType::kBF16});
  return Node(OpId::broadcast, Attributes::Of(BroadcastAttributes{Shape::Of(sizes), average}),
              {Numbers(dice, dtype, Shape::Of(from), Specials::kNone, 20)});
}

// Numbers of any type that are only moved.
HostTensor Moved(Dice& dice, const Shape& shape) {
  const DType dtype = dice.Of<DType>(
      {DType::kF64, DType::kF32, DType::kF32, DType::kBF16, DType::kU8, DType::kI32, DType::kI64});
  return Numbers(dice, dtype, shape, Specials::kNone, 50);
}

RandomNode MakeReshape(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, elements));
  return Node(OpId::reshape, Attributes::Of(ReshapeAttributes{{x.elements()}}), {x});
}

RandomNode MakeTranspose(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, elements));
  const auto key = dice.Between(0, 1000);
  return Node(OpId::transpose,
              Attributes::Of(TransposeAttributes{RandomPermutation(key, x.shape().rank())}), {x});
}

RandomNode MakeConcat(Dice& dice, int64_t elements) {
  const Shape shape = Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements / 3));
  const int axis = static_cast<int>(dice.Between(0, shape.rank() - 1));
  std::vector<HostTensor> inputs;
  for (int64_t i = 0, n = dice.Between(1, 4); i < n; ++i) {
    Shape part = shape;
    part[axis] = dice.Between(1, shape[axis].size);
    inputs.push_back(Numbers(dice, DType::kF32, part));
  }
  return Node(OpId::concat, Attributes::Of(ConcatAttributes{axis}), inputs);
}

RandomNode MakeConcatGrad(Dice& dice, int64_t elements) {
  const HostTensor dy =
      Moved(dice, Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements)));
  const int axis = static_cast<int>(dice.Between(0, dy.shape().rank() - 1));
  const int64_t size = dy.shape()[axis].size, begin = dice.Between(0, size - 1);
  return Node(OpId::concat_grad,
              Attributes::Of(ConcatGradAttributes{axis, {begin}, {dice.Between(1, size - begin)}}),
              {Numbers(dice, dy.dtype() == DType::kBF16 ? DType::kBF16 : DType::kF32, dy.shape())});
}

SliceAttributes AnySlice(Dice& dice, const Shape& shape) {
  SliceAttributes slice;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (dice.OneIn(2)) continue;
    const int64_t size = shape[axis].size, start = dice.Between(0, size - 1);
    slice.axes.push_back(axis);
    slice.starts.push_back(start);
    slice.ends.push_back(dice.Between(start + 1, size));
    slice.steps.push_back(dice.OneIn(3) ? dice.Between(1, 3) : 1);
  }
  return slice;
}

RandomNode MakeSlice(Dice& dice, int64_t elements) {
  const HostTensor x =
      Moved(dice, Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements)));
  return Node(OpId::slice, Attributes::Of(AnySlice(dice, x.shape())), {x});
}

RandomNode MakeSliceGrad(Dice& dice, int64_t elements) {
  const HostTensor x =
      Numbers(dice, AnyFloat(dice),
              Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements)));
  const SliceAttributes slice = AnySlice(dice, x.shape());
  const HostTensor y = Evaluated(Node(OpId::slice, Attributes::Of(slice), {x}))[0];
  return Node(OpId::slice_grad,
              Attributes::Of(SliceGradAttributes{slice.axes, slice.starts, slice.ends, slice.steps,
                                                 x.shape()}),
              {y});
}

RandomNode MakePad(Dice& dice, int64_t elements) {
  const HostTensor x =
      Moved(dice, Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements)));
  PadAttributes pad;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    pad.axes.push_back(axis);
    pad.before.push_back(dice.Between(0, 3));
    pad.after.push_back(dice.Between(0, 3));
  }
  pad.value = static_cast<double>(dice.Between(0, 3));
  return Node(OpId::pad, Attributes::Of(pad), {x});
}

RandomNode MakeCast(Dice& dice, int64_t elements) {
  const bool widens = dice.OneIn(2);
  const DType from =
      widens ? dice.Of<DType>({DType::kBF16, DType::kU8, DType::kI32, DType::kBool}) : DType::kF32;
  const DType to = widens ? DType::kF32 : DType::kBF16;
  const Shape shape = AnyShape(dice, elements);
  const HostTensor x = IsFloat(from)
                           ? Numbers(dice, from, shape, Specials::kAll, 100)
                           : Integers(dice, from, shape, 0, from == DType::kBool ? 1 : 255);
  return Node(OpId::cast, Attributes::Of(CastAttributes{to}), {x});
}

RandomNode MakeNormalize(Dice& dice, int64_t elements) {
  const Shape shape = AnyImages(dice, elements);
  const bool bytes = dice.OneIn(2);
  NormalizeAttributes attributes{1.0 / 255, {0.1307}, {0.3081}};
  for (int64_t c = 1; dice.OneIn(2) && c < shape[1].size; ++c) {
    if (attributes.mean.size() == static_cast<size_t>(c)) attributes.mean.push_back(0.1 * c);
  }
  if (attributes.mean.size() != static_cast<size_t>(shape[1].size)) attributes.mean.resize(1);
  return Node(OpId::normalize, Attributes::Of(attributes),
              {bytes ? Integers(dice, DType::kU8, shape, 0, 255)
                     : Numbers(dice, DType::kF32, shape, Specials::kAll)});
}

CpuCase Resize(const std::string& mode, Tolerance tolerance) {
  return {OpId::resize, tolerance, [=](Dice& dice, int64_t elements) {
            const Shape x = AnyImages(dice, elements);
            const ResizeAttributes resize{
                {dice.Between(1, 2 * x[2].size), dice.Between(1, 2 * x[3].size)}, mode};
            const DType dtype = mode == "nearest" ? AnyFloat(dice) : DType::kF32;
            return Node(OpId::resize, Attributes::Of(resize), {Numbers(dice, dtype, x)});
          }};
}

RandomNode MakeResizeGrad(Dice& dice, int64_t elements) {
  const Shape dy = AnyImages(dice, elements);
  const ResizeAttributes resize{{dice.Between(1, 2 * dy[2].size), dice.Between(1, 2 * dy[3].size)},
                                dice.OneIn(2) ? "nearest" : "bilinear"};
  return Node(OpId::resize_grad, Attributes::Of(resize), {Numbers(dice, DType::kF32, dy)});
}

RandomNode MakeSoftmax(Dice& dice, int64_t elements) {
  const Shape x = Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(1, 4)), elements));
  const Specials specials = dice.OneIn(4) ? Specials::kAll : Specials::kNone;
  return Node(OpId::softmax, Attributes::Of(SoftmaxAttributes{dice.Between(0, x.rank() - 1)}),
              {Numbers(dice, DType::kF32, x, specials, 5)});
}

RandomNode MakeSoftmaxGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeSoftmax(dice, elements);
  const HostTensor y = Evaluated(forward)[0];
  return Node(OpId::softmax_grad, forward.node.attributes,
              {y, Numbers(dice, DType::kF32, y.shape())});
}

RandomNode MakeCrossEntropy(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 2, elements);
  const DType label = dice.Of<DType>({DType::kU8, DType::kI32, DType::kI64});
  const int64_t most = std::min<int64_t>(sizes[1] - 1, 255);
  HostTensor labels = Integers(dice, label, {sizes[0]}, 0, most);
  if (dice.OneIn(6)) labels.Set(0, static_cast<double>(label == DType::kU8 ? 255 : -1));
  const double smoothing = dice.Of<double>({0.0, 0.0, 0.1, 1.0});
  return Node(OpId::softmax_cross_entropy, Attributes::Of(SoftmaxCrossEntropyAttributes{smoothing}),
              {Numbers(dice, DType::kF32, Shape::Of(sizes), Specials::kNone, 4), labels});
}

RandomNode MakeCrossEntropyGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeCrossEntropy(dice, elements);
  return Node(OpId::softmax_cross_entropy_grad, forward.node.attributes,
              {Evaluated(forward)[1], forward.inputs[1], HostTensor::Scalar<float>(0.7F)});
}

RandomNode MakeSquaredError(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  return Node(OpId::squared_error, {},
              {Numbers(dice, DType::kF32, shape), Numbers(dice, DType::kF32, shape)});
}

RandomNode MakeSquaredErrorGrad(Dice& dice, int64_t elements) {
  RandomNode forward = MakeSquaredError(dice, elements);
  forward.inputs.push_back(HostTensor::Scalar<float>(1.5F));
  return Node(OpId::squared_error_grad, {}, forward.inputs);
}

RandomNode MakeAccuracy(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, 2, elements);
  HostTensor logits = Numbers(dice, DType::kF32, Shape::Of(sizes), Specials::kAll);
  for (int64_t i = 0; i < logits.elements(); ++i) logits.Set(i, std::round(2 * logits.At(i)));
  return Node(OpId::accuracy, Attributes::Of(AccuracyAttributes{dice.Between(1, sizes[1])}),
              {logits, Integers(dice, DType::kI64, {sizes[0]}, 0, sizes[1])});
}

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
  const Shape shape = AnyImages(dice, elements);
  auto pool = AnyPool<MaxPoolAttributes>(dice, shape);
  if (dice.OneIn(3) && shape[2].size > 8 && shape[3].size > 8) pool.dilation = {2, 2};
  HostTensor x = Numbers(dice, DType::kF32, shape, Specials::kAll);
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::round(4 * x.At(i)));  // equals
  return Node(OpId::max_pool, Attributes::Of(pool), {x});
}

RandomNode MakeMaxPoolGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeMaxPool(dice, elements);
  const HostTensor index = Evaluated(forward)[1];
  const auto& pool = forward.node.attributes.As<MaxPoolAttributes>();
  return Node(OpId::max_pool_grad,
              Attributes::Of(PoolGradAttributes{forward.inputs[0].shape(), pool.kernel, pool.stride,
                                                pool.padding, pool.dilation, pool.ceil_mode}),
              {index, Numbers(dice, DType::kF32, index.shape())});
}

RandomNode MakeAvgPool(Dice& dice, int64_t elements) {
  const Shape shape = AnyImages(dice, elements);
  auto pool = AnyPool<AvgPoolAttributes>(dice, shape);
  pool.count_include_pad = dice.OneIn(2);
  return Node(OpId::avg_pool, Attributes::Of(pool), {Numbers(dice, DType::kF32, shape)});
}

RandomNode MakeAvgPoolGrad(Dice& dice, int64_t elements) {
  const RandomNode forward = MakeAvgPool(dice, elements);
  const auto& pool = forward.node.attributes.As<AvgPoolAttributes>();
  PoolGradAttributes grad{forward.inputs[0].shape(), pool.kernel, pool.stride, pool.padding};
  grad.ceil_mode = pool.ceil_mode;
  grad.count_include_pad = pool.count_include_pad;
  return Node(OpId::avg_pool_grad, Attributes::Of(grad),
              {Numbers(dice, DType::kF32, forward.node.outputs[0].shape)});
}

RandomNode MakeGlobalAvgPool(Dice& dice, int64_t elements) {
  const Shape x = Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(3, 5)), elements));
  return Node(OpId::global_avg_pool, {}, {Numbers(dice, DType::kF32, x)});
}

// x [N, channels, …], scale, shift, and statistics.
std::vector<HostTensor> NormInputs(Dice& dice, int64_t elements) {
  const Shape x = Shape::Of(AnySizes(dice, dice.OneIn(3) ? 2 : 4, elements));
  const auto channels = [&] { return Numbers(dice, DType::kF32, {x[1]}); };
  HostTensor variance = channels();
  for (int64_t c = 0; c < variance.elements(); ++c) variance.Set(c, std::abs(variance.At(c)) + 0.1);
  HostTensor values = Numbers(dice, DType::kF32, x);
  const double shift = dice.Of<double>({0.0, 5.0, -300.0});
  for (int64_t i = 0; i < values.elements(); ++i) values.Set(i, values.At(i) + shift);
  return {values, channels(), channels(), channels(), variance};
}

RandomNode MakeBatchNorm(Dice& dice, int64_t elements) {
  return Node(OpId::batch_norm, Attributes::Of(BatchNormAttributes{1e-5, 0.1, dice.OneIn(2)}),
              NormInputs(dice, elements));
}

RandomNode MakeBatchNormGrad(Dice& dice, int64_t elements) {
  std::vector<HostTensor> in = NormInputs(dice, elements);
  const HostTensor dy = Numbers(dice, DType::kF32, in[0].shape());
  return Node(OpId::batch_norm_grad, Attributes::Of(BatchNormAttributes{1e-5, 0.1, dice.OneIn(2)}),
              {in[0], dy, in[1], in[3], in[4]});
}

RandomNode MakeDropout(Dice& dice, int64_t elements) {
  const DropoutAttributes dropout{dice.Of<double>({0.0, 0.1, 0.5, 1.0 / 3, 0.99}),
                                  dice.Between(-1000, 1000) * 0x123456789, !dice.OneIn(4)};
  const HostTensor x = Numbers(dice, DType::kF32, AnyShape(dice, elements), Specials::kAll);
  const HostTensor step = HostTensor::Scalar<int64_t>(dice.Between(0, 5) * 0x87654321);
  return Node(OpId::dropout, Attributes::Of(dropout),
              dropout.training ? std::vector{x, step} : std::vector{x});
}

RandomNode MakeDropoutGrad(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  return Node(
      OpId::dropout_grad, Attributes::Of(DropoutAttributes{0.25, 1, true}),
      {Integers(dice, DType::kU8, shape, 0, 1), Numbers(dice, DType::kF32, shape, Specials::kAll)});
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
  return Node(OpId::sgd, Attributes::Of(sgd), inputs);
}

RandomNode MakeAdam(Dice& dice, int64_t elements) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kF64});
  const Shape shape = AnyShape(dice, elements);
  AdamAttributes adam;
  adam.weight_decay = dice.OneIn(2) ? 5e-4 : 0;
  HostTensor second = Numbers(dice, dtype, shape);
  for (int64_t i = 0; i < second.elements(); ++i) second.Set(i, std::abs(second.At(i)));
  return Node(OpId::adam, Attributes::Of(adam),
              {Numbers(dice, dtype, shape, Specials::kZeros), Numbers(dice, dtype, shape),
               HostTensor::Scalar<double>(0.001), Numbers(dice, dtype, shape), second,
               HostTensor::Scalar<int64_t>(dice.Between(0, 1000))});
}

}  // namespace

std::vector<CpuCase> AllCpuCases() {
  return {
      Unary(OpId::relu, kSameBits),
      UnaryGrad(OpId::relu_grad, kSameBits),
      Unary(OpId::leaky_relu, kSameBits),
      UnaryGrad(OpId::leaky_relu_grad, kSameBits),
      Unary(OpId::sigmoid, kRounding),
      UnaryGrad(OpId::sigmoid_grad, kSameBits),
      Unary(OpId::tanh, kRounding),
      UnaryGrad(OpId::tanh_grad, kRounding),
      Unary(OpId::softplus, kRounding),
      UnaryGrad(OpId::softplus_grad, kRounding),
      Unary(OpId::neg, kSameBits),
      Unary(OpId::exp, kRounding),
      Unary(OpId::log, kRounding),
      Unary(OpId::sqrt, kSameBits),
      Unary(OpId::identity, kSameBits),
      Arithmetic(OpId::add),
      Arithmetic(OpId::sub),
      Arithmetic(OpId::mul),
      Arithmetic(OpId::div),
      {OpId::bias, kSameBits, MakeBias},
      {OpId::softmax, kSums, MakeSoftmax},
      {OpId::softmax_grad, kDifferences, MakeSoftmaxGrad},
      Reduction(OpId::reduce_sum, Specials::kNone, kRounding),
      Reduction(OpId::reduce_sum, Specials::kAll, kRounding),
      Reduction(OpId::reduce_mean, Specials::kZeros, kRounding),
      Reduction(OpId::reduce_max, Specials::kNone, kSameBits),
      Reduction(OpId::reduce_max, Specials::kAll, kRounding),  // either zero is the largest
      {OpId::reduce_max_grad, kSameBits, MakeReduceMaxGrad},
      {OpId::broadcast, kSameBits, MakeBroadcast},
      {OpId::reshape, kSameBits, MakeReshape},
      {OpId::transpose, kSameBits, MakeTranspose},
      {OpId::concat, kSameBits, MakeConcat},
      {OpId::concat_grad, kSameBits, MakeConcatGrad},
      {OpId::slice, kSameBits, MakeSlice},
      {OpId::slice_grad, kSameBits, MakeSliceGrad},
      {OpId::pad, kSameBits, MakePad},
      {OpId::cast, kSameBits, MakeCast},
      {OpId::normalize, kRounding, MakeNormalize},
      Resize("nearest", kSameBits),
      Resize("bilinear", kRounding),
      {OpId::resize_grad, kRounding, MakeResizeGrad},
      {OpId::max_pool, kSameBits, MakeMaxPool},
      {OpId::max_pool_grad, kSameBits, MakeMaxPoolGrad},
      {OpId::avg_pool, kSameBits, MakeAvgPool},
      {OpId::avg_pool_grad, kSameBits, MakeAvgPoolGrad},
      {OpId::global_avg_pool, kRounding, MakeGlobalAvgPool},
      {OpId::batch_norm, kSums, MakeBatchNorm},
      {OpId::batch_norm_grad, kSums, MakeBatchNormGrad},
      {OpId::dropout, kSameBits, MakeDropout},
      {OpId::dropout_grad, kSameBits, MakeDropoutGrad},
      {OpId::softmax_cross_entropy, kSums, MakeCrossEntropy},
      {OpId::softmax_cross_entropy_grad, kSums, MakeCrossEntropyGrad},
      {OpId::squared_error, kRounding, MakeSquaredError},
      {OpId::squared_error_grad, kRounding, MakeSquaredErrorGrad},
      {OpId::accuracy, kSameBits, MakeAccuracy},
      {OpId::sgd, kSameBits, MakeSgd},
      {OpId::adam, kSameBits, MakeAdam},
  };
}

}  // namespace cgrun
