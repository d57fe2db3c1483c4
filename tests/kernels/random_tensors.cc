// Sizes are drawn so that many are not a whole number of vectors.
#include "tests/kernels/random_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/ir/op_def.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

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

Shape AnyShape(Dice& dice, int low, int high, int64_t elements) {
  return Shape::Of(AnySizes(dice, static_cast<int>(dice.Between(low, high)), elements));
}

Shape AnyShape(Dice& dice, int64_t elements) { return AnyShape(dice, 0, 4, elements); }

Shape AnyImages(Dice& dice, int64_t elements) {
  const int64_t side = std::max<int64_t>(4, static_cast<int64_t>(std::sqrt(elements / 6)));
  const int64_t height = dice.Between(4, side), width = dice.Between(4, side);
  const int64_t planes = std::max<int64_t>(1, elements / (height * width));
  const int64_t images = dice.Between(1, std::min<int64_t>(planes, 9));
  return Shape::Of({images, dice.Between(1, std::max<int64_t>(1, planes / images)), height, width});
}

Shape Broadcastable(Dice& dice, const Sizes& whole) {
  Sizes sizes = whole;
  const bool whole_again = dice.OneIn(3);
  for (int64_t& size : sizes) size = whole_again || dice.OneIn(2) ? size : 1;
  const int64_t dropped = whole_again ? 0 : dice.Between(0, std::ssize(sizes));
  sizes.erase(sizes.begin(), sizes.begin() + dropped);
  return Shape::Of(sizes);
}

DType AnyFloat(Dice& dice) {
  return dice.Of<DType>({DType::kF32, DType::kF32, DType::kBF16, DType::kF64});
}

HostTensor Numbers(Dice& dice, DType dtype, const Shape& shape, Specials specials, double scale) {
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

RandomNode MakeNode(OpId op, Attributes attributes, std::vector<HostTensor> inputs) {
  RandomNode random{{op, std::move(attributes), {}, {}, {}}, std::move(inputs)};
  for (const HostTensor& input : random.inputs) {
    random.node.inputs.push_back({input.dtype(), input.shape()});
  }
  InferContext context(random.node.attributes, random.node.inputs);
  random.node.outputs = InferTypes(op, context);
  CGRUN_CHECK(!context.failed()) << NameOf(op) << ": " << context.message();
  return random;
}

std::vector<HostTensor> Evaluated(const RandomNode& random) {
  return FindKernelLibrary("reference")->Evaluate(random.node, random.inputs).value();
}

}  // namespace cgrun
