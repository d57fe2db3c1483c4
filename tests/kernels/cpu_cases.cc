// Makes cases of elementwise operators, reductions and movements.
#include "tests/kernels/cpu_cases.h"

#include <algorithm>
#include <cmath>

#include "src/base/random.h"
#include "src/ops/cast.h"
#include "src/ops/concat.h"
#include "src/ops/crop.h"
#include "src/ops/flip.h"
#include "src/ops/leaky_relu.h"
#include "src/ops/one_hot.h"
#include "src/ops/pad.h"
#include "src/ops/reduce.h"
#include "src/ops/relu_bits.h"
#include "src/ops/reshape.h"
#include "src/ops/slice.h"
#include "src/ops/transpose.h"
#include "tests/kernels/random_tensors.h"

namespace cgrun {
namespace {

CpuCase Unary(OpId op, Tolerance tolerance, double scale = 3) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            Attributes attributes;
            if (op == OpId::leaky_relu) attributes = Attributes::Of(LeakyReluAttributes{0.3});
            return MakeNode(
                op, attributes,
                {Numbers(dice, AnyFloat(dice), AnyShape(dice, elements), Specials::kAll, scale)});
          }};
}

// Makes a case for the gradient of an activation, which reads y, or x, and dy.
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
            return MakeNode(op, attributes, {y, Numbers(dice, dtype, shape, Specials::kAll)});
          }};
}

RandomNode MakeReluBits(Dice& dice, int64_t elements) {
  const Shape y = AnyShape(dice, 1, 4, elements);
  return MakeNode(OpId::relu_bits, {}, {Numbers(dice, AnyFloat(dice), y, Specials::kAll)});
}

// The bits are any, also behind the last element of an axis.
RandomNode MakeReluGradByBits(Dice& dice, int64_t elements) {
  const Shape y = AnyShape(dice, 1, 4, elements);
  Shape bits = y;
  bits[BitsAxis(y)].size = BytesOfBits(bits[BitsAxis(y)].size);
  return MakeNode(
      OpId::relu_grad_by_bits, {},
      {Integers(dice, DType::kU8, bits, 0, 255), Numbers(dice, AnyFloat(dice), y, Specials::kAll)});
}

CpuCase Arithmetic(OpId op) {
  return {op, kSameBits, [=](Dice& dice, int64_t elements) {
            const DType dtype = AnyFloat(dice);
            const Sizes sizes = AnySizes(dice, static_cast<int>(dice.Between(0, 5)), elements);
            const HostTensor a = Numbers(dice, dtype, Broadcastable(dice, sizes), Specials::kAll);
            const HostTensor b = Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll);
            return MakeNode(op, {}, dice.OneIn(2) ? std::vector{a, b} : std::vector{b, a});
          }};
}

RandomNode MakeBias(Dice& dice, int64_t elements) {
  const DType dtype = AnyFloat(dice);
  const Shape x = AnyShape(dice, 2, 5, elements);
  return MakeNode(OpId::bias, {}, {Numbers(dice, dtype, x), Numbers(dice, dtype, {x[1]})});
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
            return MakeNode(
                op, Attributes::Of(ReduceAttributes{AnyAxes(dice, x.rank()), dice.OneIn(2)}),
                {Numbers(dice, dtype, x, specials)});
          }};
}

RandomNode MakeReduceMaxGrad(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  HostTensor x = Numbers(dice, DType::kF32, shape, Specials::kAll);
  for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::round(2 * x.At(i)));  // equals
  const Attributes attributes =
      Attributes::Of(ReduceAttributes{AnyAxes(dice, shape.rank()), dice.OneIn(2)});
  const HostTensor y = Evaluated(MakeNode(OpId::reduce_max, attributes, {x}))[0];
  return MakeNode(OpId::reduce_max_grad, attributes,
                  {x, y, Numbers(dice, DType::kF32, y.shape(), Specials::kAll)});
}

RandomNode MakeBroadcast(Dice& dice, int64_t elements) {
  const Sizes sizes = AnySizes(dice, static_cast<int>(dice.Between(0, 4)), elements);
  Sizes from = sizes;
  for (int64_t& size : from) size = dice.OneIn(2) ? 1 : size;
  const bool average = dice.OneIn(2);
  const DType dtype = average
                          ? dice.Of<DType>({DType::kF32, DType::kBF16})
                          : dice.Of<DType>({DType::kF32, DType::kI64, DType::kU8, DType::kBF16});
  return MakeNode(OpId::broadcast, Attributes::Of(BroadcastAttributes{Shape::Of(sizes), average}),
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
  return MakeNode(OpId::reshape, Attributes::Of(ReshapeAttributes{{x.elements()}}), {x});
}

RandomNode MakeTranspose(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, elements));
  const auto key = dice.Between(0, 1000);
  return MakeNode(OpId::transpose,
                  Attributes::Of(TransposeAttributes{RandomPermutation(key, x.shape().rank())}),
                  {x});
}

RandomNode MakeConcat(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, 1, 4, elements / 3);
  const int axis = static_cast<int>(dice.Between(0, shape.rank() - 1));
  std::vector<HostTensor> inputs;
  for (int64_t i = 0, n = dice.Between(1, 4); i < n; ++i) {
    Shape part = shape;
    part[axis] = dice.Between(1, shape[axis].size);
    inputs.push_back(Numbers(dice, DType::kF32, part));
  }
  return MakeNode(OpId::concat, Attributes::Of(ConcatAttributes{axis}), inputs);
}

RandomNode MakeConcatGrad(Dice& dice, int64_t elements) {
  const HostTensor dy = Moved(dice, AnyShape(dice, 1, 4, elements));
  const int axis = static_cast<int>(dice.Between(0, dy.shape().rank() - 1));
  const int64_t size = dy.shape()[axis].size, begin = dice.Between(0, size - 1);
  return MakeNode(
      OpId::concat_grad,
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
  const HostTensor x = Moved(dice, AnyShape(dice, 1, 4, elements));
  return MakeNode(OpId::slice, Attributes::Of(AnySlice(dice, x.shape())), {x});
}

RandomNode MakeSliceGrad(Dice& dice, int64_t elements) {
  const HostTensor x = Numbers(dice, AnyFloat(dice), AnyShape(dice, 1, 4, elements));
  const SliceAttributes slice = AnySlice(dice, x.shape());
  const HostTensor y = Evaluated(MakeNode(OpId::slice, Attributes::Of(slice), {x}))[0];
  return MakeNode(OpId::slice_grad,
                  Attributes::Of(SliceGradAttributes{slice.axes, slice.starts, slice.ends,
                                                     slice.steps, x.shape()}),
                  {y});
}

RandomNode MakePad(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, 1, 4, elements));
  PadAttributes pad;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    pad.axes.push_back(axis);
    pad.before.push_back(dice.Between(0, 3));
    pad.after.push_back(dice.Between(0, 3));
  }
  pad.value = static_cast<double>(dice.Between(0, 3));
  return MakeNode(OpId::pad, Attributes::Of(pad), {x});
}

RandomNode MakeCrop(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, 2, 4, elements));
  const int rows = x.shape().rank() - 2;
  CropAttributes crop;
  for (int axis : {rows, rows + 1}) {
    const int64_t size = x.shape()[axis].size;
    crop.offset.push_back(dice.Between(0, size / 3));
    crop.size.push_back(dice.Between((size + 1) / 2, size - crop.offset.back()));
  }
  if (dice.OneIn(3)) crop.offset.clear();
  return MakeNode(OpId::crop, Attributes::Of(crop), {x});
}

RandomNode MakeFlip(Dice& dice, int64_t elements) {
  const HostTensor x = Moved(dice, AnyShape(dice, 1, 4, elements));
  FlipAttributes flip{AnyAxes(dice, x.shape().rank())};
  if (flip.axes.empty()) flip.axes = {-1};
  return MakeNode(OpId::flip, Attributes::Of(flip), {x});
}

RandomNode MakeOneHot(Dice& dice, int64_t elements) {
  OneHotAttributes one_hot;
  one_hot.classes = dice.Between(1, 20);
  one_hot.on_value = 0.9;
  one_hot.off_value = -0.1;
  one_hot.dtype = AnyFloat(dice);
  const DType dtype = dice.Of<DType>({DType::kU8, DType::kI32, DType::kI64});
  const Shape shape = AnyShape(dice, 1, 2, std::max<int64_t>(1, elements / 4));
  return MakeNode(OpId::one_hot, Attributes::Of(one_hot),
                  {Integers(dice, dtype, shape, 0, one_hot.classes)});  // the last is outside
}

// Casts to and from types in which nothing is computed.
RandomNode MakeStoredCast(Dice& dice, int64_t elements) {
  const Shape shape = AnyShape(dice, elements);
  const DType to = dice.Of<DType>({DType::kF16, DType::kI8, DType::kU8});
  const DType from = dice.Of<DType>({DType::kF16, DType::kI8, DType::kU8});
  const bool widens = dice.OneIn(2);
  const DType wide = from == DType::kF16 || dice.OneIn(2) ? DType::kF32 : DType::kI32;
  const HostTensor x = !widens ? Numbers(dice, DType::kF32, shape, Specials::kAll, 100)
                       : from == DType::kF16 ? Numbers(dice, from, shape, Specials::kAll, 100)
                                             : Integers(dice, from, shape, 0, 127);
  return MakeNode(OpId::cast, Attributes::Of(CastAttributes{widens ? wide : to}), {x});
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
  return MakeNode(OpId::cast, Attributes::Of(CastAttributes{to}), {x});
}

}  // namespace

std::vector<CpuCase> AllCpuCases() {
  std::vector<CpuCase> cases = {
      Unary(OpId::relu, kSameBits),
      UnaryGrad(OpId::relu_grad, kSameBits),
      {OpId::relu_bits, kSameBits, MakeReluBits},
      {OpId::relu_grad_by_bits, kSameBits, MakeReluGradByBits},
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
      {OpId::crop, kSameBits, MakeCrop},
      {OpId::flip, kSameBits, MakeFlip},
      {OpId::one_hot, kSameBits, MakeOneHot},
      {OpId::slice_grad, kSameBits, MakeSliceGrad},
      {OpId::pad, kSameBits, MakePad},
      {OpId::cast, kSameBits, MakeCast},
      {OpId::cast, kSameBits, MakeStoredCast},
  };
  for (auto more : {ElementwiseCases, LayerCases, IntegerCases, TrainingCases}) {
    for (CpuCase& c : more()) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace cgrun
