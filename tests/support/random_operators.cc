// The families of operators, and the arguments that they are drawn with.
#include "tests/support/random_operators.h"

#include <algorithm>
#include <string>

#include "src/autodiff/autodiff.h"
#include "src/ir/op_def.h"
#include "src/ops/cast.h"
#include "src/ops/clip.h"
#include "src/ops/compare.h"
#include "src/ops/concat.h"
#include "src/ops/conv_integer.h"
#include "src/ops/dropout.h"
#include "src/ops/embedding.h"
#include "src/ops/fill.h"
#include "src/ops/gelu.h"
#include "src/ops/infer.h"
#include "src/ops/layer_norm.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "src/ops/normalize.h"
#include "src/ops/one_hot.h"
#include "src/ops/pad.h"
#include "src/ops/random.h"
#include "src/ops/random_mix.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/slice.h"
#include "src/ops/softmax.h"
#include "src/ops/transpose.h"

namespace cgrun {
namespace {

// Every activation of the operator table is among them.
const std::vector<OpId>& UnaryOperators() {
  static const std::vector<OpId> operators = [] {
    std::vector<OpId> ops = {OpId::identity, OpId::neg,     OpId::exp,  OpId::log,  OpId::sqrt,
                             OpId::abs,      OpId::flatten, OpId::sign, OpId::ceil, OpId::floor,
                             OpId::round,    OpId::erf,     OpId::sin,  OpId::cos,  OpId::tan,
                             OpId::asin,     OpId::acos,    OpId::atan, OpId::sinh, OpId::cosh,
                             OpId::asinh,    OpId::acosh,   OpId::atanh};
    for (int i = 0; i < kBuiltinOpCount; ++i) {
      if (GetOpDef(OpId(i)).activation) ops.push_back(OpId(i));
    }
    return ops;
  }();
  return operators;
}

}  // namespace

void RandomOperators::EmitAny() {
  static const std::vector<Emitter> emitters = {
      &RandomOperators::EmitUnary,         &RandomOperators::EmitUnary,
      &RandomOperators::EmitUnary,         &RandomOperators::EmitBinary,
      &RandomOperators::EmitBinary,        &RandomOperators::EmitBinary,
      &RandomOperators::EmitNeutral,       &RandomOperators::EmitReduction,
      &RandomOperators::EmitReshape,       &RandomOperators::EmitReshape,
      &RandomOperators::EmitBroadcast,     &RandomOperators::EmitDuplicate,
      &RandomOperators::EmitAllReduce,     &RandomOperators::EmitGradient,
      &RandomOperators::EmitFused,         &RandomOperators::EmitMatmul,
      &RandomOperators::EmitLinear,        &RandomOperators::EmitTranspose,
      &RandomOperators::EmitConcat,        &RandomOperators::EmitSlice,
      &RandomOperators::EmitPad,           &RandomOperators::EmitCast,
      &RandomOperators::EmitDropout,       &RandomOperators::EmitNormalize,
      &RandomOperators::EmitResize,        &RandomOperators::EmitScalarOfTwo,
      &RandomOperators::EmitPow,           &RandomOperators::EmitClip,
      &RandomOperators::EmitChoice,        &RandomOperators::EmitLayerNorm,
      &RandomOperators::EmitRows,          &RandomOperators::EmitRandom,
      &RandomOperators::EmitCrop,          &RandomOperators::EmitFlip,
      &RandomOperators::EmitConvTranspose, &RandomOperators::EmitIntegerProduct,
      &RandomOperators::EmitAugmented,     &RandomOperators::EmitScalarOfTwo,
      &RandomOperators::EmitScores,        &RandomOperators::EmitLogic,
      &RandomOperators::EmitRemainder,     &RandomOperators::EmitCumsum,
      &RandomOperators::EmitTriangle,      &RandomOperators::EmitRepetition,
      &RandomOperators::EmitResample,      &RandomOperators::EmitSearch,
      &RandomOperators::EmitGather,        &RandomOperators::EmitBlocks,
  };
  for (int attempt = 0; attempt < 20; ++attempt) {
    if ((this->*dice_.Of(emitters))()) return;
  }
}

bool RandomOperators::EmitUnary() {
  if (dice_.OneIn(16))
    return TryEmit(OpId::gelu, Attributes::Of(GeluAttributes{"tanh"}), {AnyValue()});
  return TryEmit(dice_.Of(UnaryOperators()), {AnyValue()});
}

bool RandomOperators::EmitBinary() {
  const ValueId a = AnyValue();
  const ValueId b = dice_.OneIn(8) ? a : AnyValueWhere([&](ValueId id) {
    return BroadcastShapes(ShapeOf(a), ShapeOf(id)).has_value();
  });
  return TryEmit(AnyArithmetic(), dice_.OneIn(2) ? std::vector{a, b} : std::vector{b, a});
}

bool RandomOperators::EmitNeutral() {
  const ValueId x = AnyValue();
  const Shape ones(std::vector<Dim>(static_cast<size_t>(ShapeOf(x).rank()), Dim(1)));
  HostTensor tensor(dtype_, ShapeOf(x).IsBound() && dice_.OneIn(2) ? ShapeOf(x) : ones);
  const double number = dice_.Of<double>({1.0, 1.0, 0.0, -0.0});
  for (int64_t e = 0; e < tensor.elements(); ++e) tensor.Set(e, number);
  const ValueId constant = builder_.AddConstant(std::move(tensor), "neutral");
  return TryEmit(AnyArithmetic(),
                 dice_.OneIn(3) ? std::vector{constant, x} : std::vector{x, constant});
}

bool RandomOperators::EmitReduction() {
  const ValueId x = AnyValue();
  ReduceAttributes reduce;
  for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
    if (dice_.OneIn(2)) reduce.axes.push_back(dice_.OneIn(2) ? axis : axis - ShapeOf(x).rank());
  }
  reduce.keep_dims = dice_.OneIn(2);
  const OpId op = dice_.Of<OpId>(
      {OpId::reduce_sum, OpId::reduce_mean, OpId::reduce_max, OpId::reduce_min, OpId::reduce_prod});
  return TryEmit(op, Attributes::Of(reduce), {x});
}

bool RandomOperators::EmitReshape() {
  const ValueId x = AnyValue();
  const auto count = CountElements(ShapeOf(x));
  std::vector<Dim> dims;
  int64_t rest = count->size;
  for (int64_t factor : {2, 3, 4}) {
    if (rest % factor != 0 || !dice_.OneIn(2)) continue;
    dims.push_back(Dim(factor));
    rest /= factor;
  }
  const auto any_place = [&] { return dims.begin() + dice_.Between(0, std::ssize(dims)); };
  if (dice_.OneIn(4)) dims.insert(any_place(), Dim(1));
  if (rest > 1 || count->batch) dims.insert(any_place(), Dim(rest, count->batch));
  if (!dims.empty() && dice_.OneIn(4)) {
    dims[static_cast<size_t>(dice_.Between(0, std::ssize(dims) - 1))] = Dim(-1);
  }
  return TryEmit(OpId::reshape, Attributes::Of(ReshapeAttributes{Shape(dims)}), {x});
}

bool RandomOperators::EmitBroadcast() {
  const ValueId x = AnyValue();
  BroadcastAttributes repeat{ShapeOf(x), dice_.OneIn(4)};
  for (Dim& dim : repeat.shape.dims()) {
    if (dim == Dim(1)) dim = dice_.Of<Dim>({Dim(1), Dim(2), Dim(4), kBatchDim});
  }
  return TryEmit(OpId::broadcast, Attributes::Of(repeat), {x});
}

bool RandomOperators::EmitDuplicate() {
  if (graph_.nodes.empty()) return false;
  const Node node =
      graph_.nodes[NodeId(dice_.Between(0, static_cast<int64_t>(graph_.nodes.size()) - 1))];
  if (node.op == OpId::fused) return false;
  std::vector<ValueId> inputs = node.inputs;
  if (inputs.size() == 2 && dice_.OneIn(2)) std::swap(inputs[0], inputs[1]);
  return TryEmit(node.op, node.attributes, inputs);
}

bool RandomOperators::EmitGradient() {
  const ValueId y = AnyValue(), dy = AnyValueOfShape(ShapeOf(y));
  if (dice_.OneIn(2)) return TryEmit(OpId::relu_grad, Attributes(), {y, dy});
  if (!TryEmit(OpId::relu_bits, Attributes(), {y})) return false;
  const ValueId bits = graph_.nodes[graph_.nodes.last()].outputs[0];
  return TryEmit(OpId::relu_grad_by_bits, Attributes(), {bits, dy});
}

bool RandomOperators::EmitFused() {
  const ValueId x = AnyValue();
  Node node;
  node.op = OpId::fused;
  node.name = builder_.UniqueName("fused");
  node.inputs = {x};
  for (int64_t i = 0, n = dice_.Between(0, 2); i < n; ++i) {
    node.inputs.push_back(AnyValueOfShape(ShapeOf(x)));
  }
  for (int64_t i = 0, n = dice_.Between(2, 5); i < n; ++i) {
    const auto operand = [&] {
      return static_cast<int>(dice_.Between(-i, std::ssize(node.inputs) - 1));
    };
    const bool binary = dice_.OneIn(2);
    FusedOperator inner{
        dice_.Of(binary ? std::vector{OpId::add, OpId::mul} : std::vector{OpId::relu, OpId::neg}),
        {},
        {}};
    inner.operands = binary ? std::vector{operand(), operand()} : std::vector{operand()};
    node.body.push_back(inner);
  }
  Value value;
  value.type = TypeOf(x);
  value.name = node.name;
  value.producer = NodeId(static_cast<int64_t>(graph_.nodes.size()));
  node.outputs = {graph_.values.push_back(value)};
  pool_.push_back(node.outputs[0]);
  graph_.nodes.push_back(std::move(node));
  return true;
}

ValueId RandomOperators::AnyMatrix() {
  return AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() >= 2; });
}

bool RandomOperators::EmitMatmul() {
  const ValueId a = AnyMatrix(), b = AnyMatrix();
  return a.valid() &&
         TryEmit(OpId::matmul, Attributes::Of(MatmulAttributes{dice_.OneIn(2), dice_.OneIn(2)}),
                 {a, b});
}

bool RandomOperators::EmitLinear() {
  const ValueId x = AnyMatrix();
  if (!x.valid() || ShapeOf(x).dims().back().batch) return false;
  const LinearAttributes linear{dice_.Between(1, 4), dice_.OneIn(2)};
  std::vector<ValueId> inputs = {x, AddState({linear.units, ShapeOf(x).dims().back()})};
  if (linear.bias) inputs.push_back(AddState({linear.units}));
  return TryEmit(OpId::linear, Attributes::Of(linear), inputs);
}

bool RandomOperators::EmitTranspose() {
  const ValueId x = AnyValue();
  TransposeAttributes transpose;
  transpose.perm = RandomPermutation(dice_.Between(0, 1000), ShapeOf(x).rank());
  return TryEmit(OpId::transpose, Attributes::Of(transpose), {x});
}

bool RandomOperators::EmitConcat() {
  const ValueId x = AnyValue();
  if (ShapeOf(x).rank() == 0) return false;
  const std::vector<ValueId> inputs = {x, AnyValueOfShape(ShapeOf(x)), AnyValueOfShape(ShapeOf(x))};
  return TryEmit(OpId::concat,
                 Attributes::Of(ConcatAttributes{dice_.Between(0, ShapeOf(x).rank() - 1)}), inputs);
}

int RandomOperators::AnyPlainAxis(ValueId x) {
  std::vector<int> axes;
  for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
    if (!ShapeOf(x)[axis].batch) axes.push_back(axis);
  }
  return axes.empty() ? -1 : dice_.Of(axes);
}

bool RandomOperators::EmitSlice() {
  const ValueId x = AnyValue();
  const int axis = AnyPlainAxis(x);
  if (axis < 0) return false;
  const int64_t size = ShapeOf(x)[axis].size, start = dice_.Between(0, size - 1);
  const bool backwards = dice_.OneIn(3);
  const SliceAttributes slice{{axis},
                              {start},
                              {backwards ? -size - 1 : dice_.Between(start + 1, size)},
                              {backwards ? -1 : dice_.Between(1, 2)}};
  return TryEmit(OpId::slice, Attributes::Of(slice), {x});
}

bool RandomOperators::EmitPad() {
  const ValueId x = AnyValue();
  const int axis = AnyPlainAxis(x);
  if (axis < 0) return false;
  const std::string mode = dice_.Of<std::string>({"constant", "constant", "reflect", "wrap"});
  const PadAttributes pad{{axis}, {dice_.Between(0, 2)}, {dice_.Between(0, 2)}, 0.5, mode};
  return TryEmit(OpId::pad, Attributes::Of(pad), {x});
}

bool RandomOperators::EmitCast() {
  const ValueId x = AnyValue();
  const DType to = dice_.Of<DType>({dtype_, DType::kF32, DType::kF64, DType::kBF16, DType::kI32,
                                    DType::kF16, DType::kI8, DType::kU16, DType::kU64});
  if (!TryEmit(OpId::cast, Attributes::Of(CastAttributes{to}), {x})) return false;
  const ValueId there = graph_.nodes[graph_.nodes.last()].outputs[0];
  return to == dtype_ || TryEmit(OpId::cast, Attributes::Of(CastAttributes{dtype_}), {there});
}

// Makes bytes of a value, and multiplies them with others.
bool RandomOperators::EmitIntegerProduct() {
  const bool convolves = dice_.OneIn(2);
  const ValueId x =
      convolves ? AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() == 4; }) : AnyMatrix();
  if (!x.valid() || ShapeOf(x)[1].batch) return false;
  const DType type = dice_.OneIn(2) ? DType::kI8 : DType::kU8;
  if (!TryEmit(OpId::cast, Attributes::Of(CastAttributes{type}), {x})) return false;
  const ValueId bytes = graph_.nodes[graph_.nodes.last()].outputs[0];
  const int64_t inner = ShapeOf(x)[1].size;
  HostTensor other(type, convolves ? Shape{2, inner, 1, 1} : Shape{inner, 2}), zero(type, Shape{1});
  for (int64_t e = 0; e < other.elements(); ++e) other.Set(e, static_cast<double>(e % 5));
  zero.Set(0, 3);
  const std::vector<ValueId> inputs = {bytes, builder_.AddConstant(std::move(other), "bytes"),
                                       builder_.AddConstant(zero, "zero"),
                                       builder_.AddConstant(zero, "zero")};
  const bool is_made =
      convolves ? TryEmit(OpId::conv_integer, Attributes::Of(ConvIntegerAttributes{}), inputs)
                : TryEmit(OpId::matmul_integer, inputs);
  if (!is_made) return false;
  const ValueId sums = graph_.nodes[graph_.nodes.last()].outputs[0];
  return TryEmit(OpId::cast, Attributes::Of(CastAttributes{dtype_}), {sums});
}

bool RandomOperators::EmitDropout() {
  const bool training = !dice_.OneIn(3);
  const DropoutAttributes dropout{0.25, dice_.Between(1, 3), training};
  const ValueId x = AnyValue();
  return TryEmit(OpId::dropout, Attributes::Of(dropout),
                 training ? std::vector{x, StepCounter(builder_)} : std::vector{x});
}

bool RandomOperators::EmitNormalize() {
  return TryEmit(OpId::normalize, Attributes::Of(NormalizeAttributes{0.5, {0.25}, {2}, dtype_}),
                 {AnyValue()});
}

bool RandomOperators::EmitPow() {
  const ValueId x = AnyValue();
  const bool is_base = !dice_.OneIn(3);
  HostTensor tensor(dtype_, Shape{1});
  tensor.Set(0, is_base ? dice_.Of<double>({2, 3, 1, 0, -1, 0.5}) : dice_.Of<double>({2, 0.5, 0}));
  const ValueId constant = builder_.AddConstant(std::move(tensor), "power");
  return TryEmit(OpId::pow, is_base ? std::vector{x, constant} : std::vector{constant, x});
}

bool RandomOperators::EmitClip() {
  if (dice_.OneIn(4)) {
    return TryEmit(OpId::fill, Attributes::Of(FillAttributes{0.75}), {AnyValue()});
  }
  ClipAttributes clip;
  if (dice_.OneIn(2)) clip.min = dice_.Of<double>({-1, 0, 0.1});
  if (dice_.OneIn(2)) clip.max = dice_.Of<double>({0.5, 1, 6});
  return TryEmit(OpId::clip, Attributes::Of(clip), {AnyValue()});
}

bool RandomOperators::EmitChoice() {
  const ValueId a = AnyValue();
  const ValueId b = AnyValueWhere(
      [&](ValueId id) { return BroadcastShapes(ShapeOf(a), ShapeOf(id)).has_value(); });
  const CompareAttributes compare{dice_.Of<std::string>(
      {"less", "less_or_equal", "equal", "not_equal", "greater", "greater_or_equal"})};
  if (!TryEmit(OpId::compare, Attributes::Of(compare), {a, b})) return false;
  const ValueId condition = graph_.nodes[graph_.nodes.last()].outputs[0];
  const ValueId other = AnyValueWhere(
      [&](ValueId id) { return BroadcastShapes(ShapeOf(condition), ShapeOf(id)).has_value(); });
  return TryEmit(OpId::where, dice_.OneIn(2) ? std::vector{condition, a, other}
                                             : std::vector{condition, other, b});
}

bool RandomOperators::EmitLayerNorm() {
  const ValueId x = AnyValueWhere(
      [&](ValueId id) { return ShapeOf(id).rank() >= 1 && !ShapeOf(id).dims().back().batch; });
  if (!x.valid()) return false;
  const LayerNormAttributes norm{dice_.OneIn(2) ? -1 : dice_.Between(0, ShapeOf(x).rank() - 1),
                                 dice_.Of<double>({1e-5, 0.25}), dice_.OneIn(2)};
  const auto axis = NormalizeAxis(norm.axis, ShapeOf(x).rank());
  const Shape normalised(std::vector<Dim>(ShapeOf(x).begin() + *axis, ShapeOf(x).end()));
  if (!normalised.IsBound()) return false;
  std::vector<ValueId> inputs = {x};
  if (norm.affine) {
    inputs.push_back(AddState(normalised));
    inputs.push_back(AddState(normalised));
  }
  return TryEmit(OpId::layer_norm, Attributes::Of(norm), inputs);
}

bool RandomOperators::EmitRows() {
  const ValueId x = AnyMatrix();
  if (!x.valid()) return false;
  const ValueId ids = LabelsFor(x);
  const int64_t rows = dice_.OneIn(4) ? 2 : 3;  // labels are 0, 1 and 2
  if (dice_.OneIn(2)) {
    return TryEmit(OpId::one_hot, Attributes::Of(OneHotAttributes{rows, 2, -0.5, dtype_}), {ids});
  }
  const EmbeddingAttributes table{rows, dice_.Between(1, 4), dtype_};
  return TryEmit(OpId::embedding, Attributes::Of(table), {ids, AddState({rows, table.units})});
}

bool RandomOperators::EmitRandom() {
  if (dice_.OneIn(3)) {
    const ValueId a = AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() > 0; });
    if (!a.valid()) return false;
    const ValueId b = AnyValueWhere([&](ValueId id) { return ShapeOf(id) == ShapeOf(a); });
    return TryEmit(OpId::random_mix, Attributes::Of(RandomMixAttributes{dice_.Between(1, 3)}),
                   {a, b, StepCounter(builder_)});
  }
  const Shape shape = ShapeOf(AnyValue());
  const int64_t key = dice_.Between(1, 3);
  const bool normal = dice_.OneIn(2);
  const Attributes attributes =
      normal ? Attributes::Of(RandomNormalAttributes{shape, 0.5, 2, dtype_, key})
             : Attributes::Of(RandomUniformAttributes{shape, -1, 2, dtype_, key});
  return TryEmit(normal ? OpId::random_normal : OpId::random_uniform, attributes,
                 {StepCounter(builder_)});
}

}  // namespace cgrun
