// Makes cases of products of 8-bit integers.
#include <algorithm>

#include "src/ops/conv_integer.h"
#include "tests/kernels/random_tensors.h"

namespace cgrun {
namespace {

// Bytes, among which the least and the largest are frequent.
HostTensor Bytes(Dice& dice, const Shape& shape) {
  const bool is_signed = dice.OneIn(2);
  const int64_t low = is_signed ? -128 : 0;
  HostTensor bytes = Integers(dice, is_signed ? DType::kI8 : DType::kU8, shape, low, low + 255);
  for (int64_t i = 0; i < bytes.elements(); i += 3) {
    bytes.Set(i, static_cast<double>(dice.OneIn(2) ? low : low + 255));
  }
  return bytes;
}

// Makes a zero point of `bytes`, or `count` of them.
HostTensor ZeroPoint(Dice& dice, const HostTensor& bytes, int64_t count) {
  const int64_t low = bytes.dtype() == DType::kI8 ? -128 : 0;
  return Integers(dice, bytes.dtype(), Shape{dice.OneIn(2) ? 1 : count}, low, low + 255);
}

RandomNode MakeMatmulInteger(Dice& dice, int64_t elements) {
  const int64_t rows = dice.Between(1, 40), depth = dice.Between(1, 70);
  const int64_t columns = dice.Between(1, std::max<int64_t>(1, elements / rows));
  const Shape a = dice.OneIn(3) ? Shape{2, rows, depth} : Shape{rows, depth};
  const Shape b = dice.OneIn(3) ? Shape{2, depth, columns} : Shape{depth, columns};
  const HostTensor left = Bytes(dice, a), right = Bytes(dice, b);
  return MakeNode(OpId::matmul_integer, {},
                  {left, right, ZeroPoint(dice, left, rows), ZeroPoint(dice, right, columns)});
}

RandomNode MakeConvInteger(Dice& dice, int64_t elements) {
  const Shape images = AnyImages(dice, elements);
  const int64_t groups = dice.OneIn(2) ? images[1].size : 1, filters = groups * dice.Between(1, 5);
  const int64_t height = dice.Between(1, std::min<int64_t>(5, images[2].size));
  const int64_t width = dice.Between(1, std::min<int64_t>(5, images[3].size));
  const ConvIntegerAttributes conv{{dice.Between(1, 3), dice.Between(1, 3)},
                                   {dice.Between(0, 2), dice.Between(0, 2), 0, 1},
                                   {1, 1},
                                   groups};
  const HostTensor x = Bytes(dice, images);
  const HostTensor weight = Bytes(dice, {filters, images[1].size / groups, height, width});
  return MakeNode(OpId::conv_integer, Attributes::Of(conv),
                  {x, weight, ZeroPoint(dice, x, 1), ZeroPoint(dice, weight, filters)});
}

}  // namespace

std::vector<CpuCase> IntegerCases() {
  return {
      {OpId::matmul_integer, kSameBits, MakeMatmulInteger},
      {OpId::conv_integer, kSameBits, MakeConvInteger},
  };
}

}  // namespace cgrun
