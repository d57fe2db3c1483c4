// Makes cases of elementwise operators with attributes, of three operands, or of a condition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "src/ops/clip.h"
#include "src/ops/compare.h"
#include "src/ops/gelu.h"
#include "src/ops/where.h"
#include "tests/kernels/random_tensors.h"

namespace cgrun {
namespace {

using Inputs = std::vector<HostTensor>;

Attributes AnyGelu(Dice& dice) {
  return Attributes::Of(GeluAttributes{dice.OneIn(2) ? "none" : "tanh"});
}

Attributes AnyClip(Dice& dice) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return Attributes::Of(
      ClipAttributes{dice.Of<double>({-kInfinity, -0.7, 0}), dice.Of<double>({kInfinity, 0.6, 0})});
}

Attributes AnyRelation(Dice& dice) {
  return Attributes::Of(CompareAttributes{dice.Of<std::string>(
      {"less", "less_or_equal", "equal", "not_equal", "greater", "greater_or_equal"})});
}

Attributes None(Dice&) { return Attributes(); }

// All operands have one shape.
CpuCase Same(OpId op, int operands, Attributes (*attributes)(Dice&), Tolerance tolerance) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            const DType dtype = AnyFloat(dice);
            const Shape shape = AnyShape(dice, elements);
            Inputs inputs;
            for (int i = 0; i < operands; ++i) {
              inputs.push_back(Numbers(dice, dtype, shape, Specials::kAll, 2));
            }
            return MakeNode(op, attributes(dice), inputs);
          }};
}

// Two operands that go together, some of whose numbers are equal if `rounded`.
Inputs AnyPair(Dice& dice, DType dtype, const Sizes& sizes, bool rounded) {
  Inputs pair = {Numbers(dice, dtype, Broadcastable(dice, sizes), Specials::kAll, 2),
                 Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll, 2)};
  for (HostTensor& tensor : pair) {
    for (int64_t i = 0; rounded && i < tensor.elements(); ++i) {
      tensor.Set(i, std::round(tensor.At(i)));
    }
  }
  if (dice.OneIn(2)) std::swap(pair[0], pair[1]);
  return pair;
}

Sizes AnyResult(Dice& dice, int64_t elements) {
  return AnySizes(dice, static_cast<int>(dice.Between(0, 5)), elements);
}

CpuCase Pair(OpId op, bool rounded, Attributes (*attributes)(Dice&), Tolerance tolerance) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            const Sizes sizes = AnyResult(dice, elements);
            return MakeNode(op, attributes(dice), AnyPair(dice, AnyFloat(dice), sizes, rounded));
          }};
}

// A pair and the gradient of what they make.
CpuCase PairGrad(OpId op, bool rounded, Tolerance tolerance) {
  return {op, tolerance, [=](Dice& dice, int64_t elements) {
            const DType dtype = AnyFloat(dice);
            const Sizes sizes = AnyResult(dice, elements);
            Inputs inputs = AnyPair(dice, dtype, sizes, rounded);
            inputs.push_back(Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll));
            return MakeNode(op, {}, inputs);
          }};
}

// The operands are base, power and gradient.
RandomNode MakePowExponentGrad(Dice& dice, int64_t elements) {
  const DType dtype = dice.Of<DType>({DType::kF32, DType::kBF16});
  const Sizes sizes = AnyResult(dice, elements);
  const HostTensor base = Numbers(dice, dtype, Broadcastable(dice, sizes), Specials::kAll, 2);
  const HostTensor power = Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll, 2);
  return MakeNode(OpId::pow_exponent_grad, {},
                  {base, power, Numbers(dice, dtype, Shape::Of(sizes), Specials::kAll)});
}

HostTensor AnyCondition(Dice& dice, const Shape& shape) {
  return Integers(dice, DType::kBool, shape, 0, 1);
}

// Some of them are too large for the vector kernel's own way.
RandomNode MakeLargeAngles(Dice& dice, int64_t elements) {
  return MakeNode(OpId::sin, {},
                  {Numbers(dice, AnyFloat(dice), AnyShape(dice, elements), Specials::kAll, 3e4)});
}

RandomNode MakeWhere(Dice& dice, int64_t elements) {
  const DType dtype = AnyFloat(dice);
  const Sizes sizes = AnyResult(dice, elements);
  Inputs inputs = AnyPair(dice, dtype, sizes, false);
  inputs.insert(inputs.begin(), AnyCondition(dice, Broadcastable(dice, sizes)));
  return MakeNode(OpId::where, {}, inputs);
}

RandomNode MakeWhereGrad(Dice& dice, int64_t elements) {
  const Sizes sizes = AnyResult(dice, elements);
  return MakeNode(OpId::where_grad, Attributes::Of(WhereGradAttributes{dice.OneIn(2)}),
                  {AnyCondition(dice, Broadcastable(dice, sizes)),
                   Numbers(dice, AnyFloat(dice), Shape::Of(sizes), Specials::kAll)});
}

}  // namespace

std::vector<CpuCase> ElementwiseCases() {
  return {
      Same(OpId::gelu, 1, AnyGelu, kRounding),
      Same(OpId::gelu_grad, 2, AnyGelu, kDifferences),
      Same(OpId::silu, 1, None, kRounding),
      Same(OpId::silu_grad, 2, None, kDifferences),
      Same(OpId::hard_swish, 1, None, kRounding),
      Same(OpId::hard_swish_grad, 2, None, kRounding),
      Same(OpId::abs, 1, None, kSameBits),
      Same(OpId::abs_grad, 2, None, kSameBits),
      Same(OpId::sign, 1, None, kSameBits),
      Same(OpId::ceil, 1, None, kSameBits),
      Same(OpId::floor, 1, None, kSameBits),
      Same(OpId::round, 1, None, kSameBits),
      Same(OpId::erf, 1, None, kRounding),
      Same(OpId::sin, 1, None, kRounding),
      Same(OpId::cos, 1, None, kRounding),
      {OpId::sin, kRounding, MakeLargeAngles},
      Same(OpId::clip, 1, AnyClip, kSameBits),
      Same(OpId::clip_grad, 2, AnyClip, kSameBits),
      Pair(OpId::min, true, None, kSameBits),
      Pair(OpId::max, true, None, kSameBits),
      PairGrad(OpId::max_grad, true, kSameBits),
      Pair(OpId::pow, false, None, kRounding),
      Pair(OpId::pow, true, None, kRounding),
      PairGrad(OpId::pow_base_grad, false, kRounding),
      PairGrad(OpId::pow_base_grad, true, kRounding),
      {OpId::pow_exponent_grad, kRounding, MakePowExponentGrad},
      Pair(OpId::compare, true, AnyRelation, kSameBits),
      {OpId::where, kSameBits, MakeWhere},
      {OpId::where_grad, kSameBits, MakeWhereGrad},
  };
}

}  // namespace cgrun
