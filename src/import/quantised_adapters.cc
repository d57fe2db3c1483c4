// Quantised operators: sums of bytes are exact in int32, and all else is computed in f32 by
// ordinary operators, in the order in which ONNX's reference rounds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"
#include "src/import/quantiser.h"
#include "src/import/widen.h"

namespace cgrun {
namespace {

using Argument = ItemWriter::Argument;

bool IsQuantised(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 || dtype == DType::kU16;
}

// Finds the axis and block size of the scales of QuantizeLinear and DequantizeLinear.
Grid ReadGrid(NodeContext& node) {
  const Shape x = node.ShapeOf(0), scale = node.ShapeOf(1);
  Grid grid{node.Int("axis", 1), node.Int("block_size", 0)};
  if (scale.rank() == 0 || (scale.IsBound() && scale.Elements() == 1)) return {};
  grid.axis = node.Axis(grid.axis, x.rank());
  node.RefuseBatch(0, grid.axis, "has a scale for each row along");
  if (grid.block < 0 || grid.block > (1 << 30)) node.FailAttribute("block_size", "is out of range");
  if (grid.block == 0 && scale.rank() != 1) node.Fail("its scales are no list");
  if (grid.block == 0 && scale[0] != x[static_cast<int>(grid.axis)]) {
    node.Fail("its scales " + scale.ToString() + " do not fit " + x.ToString());
  }
  if (grid.block == 0) return grid;
  const int64_t size = x[static_cast<int>(grid.axis)].size;
  const bool fits = scale.rank() == x.rank() &&
                    scale[static_cast<int>(grid.axis)] == Dim((size + grid.block - 1) / grid.block);
  if (!fits)
    node.Fail("its scales " + scale.ToString() + " do not fit the blocks of " + x.ToString());
  return grid;
}

DType QuantisedType(NodeContext& node) {
  DType dtype = DType::kU8;
  const auto given = static_cast<onnx::DataType>(node.Int("output_dtype", 0));
  if (given != onnx::DataType::kUndefined) {
    const std::optional<DType> known = DTypeOfOnnx(given);
    if (!known || !IsQuantised(*known)) {
      node.FailAttribute("output_dtype", "is " + onnx::NameOf(given) + ", which is not supported");
    }
    dtype = *known;
  } else if (node.Has(2)) {
    dtype = node.TypeOf(2).dtype;
  }
  if (!IsQuantised(dtype))
    node.Fail("gives " + std::string(Name(dtype)) + ", which is not supported");
  return dtype;
}

void QuantizeLinear(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  node.Ignore("saturate");
  node.Ignore("precision");
  const DType dtype = QuantisedType(node);
  const Grid grid = ReadGrid(node);
  const Shape shape = node.ShapeOf(0);
  const Factor scale = quantiser.Scale(1, shape, grid);
  const auto zero_point = quantiser.ZeroPoint(2, DType::kF32, shape, grid);
  const NetworkValue x = quantiser.Cast(node.Value(0), DType::kF32);
  quantiser.FinishQuantised(quantiser.write().Part("div", {x, scale.argument()}), zero_point,
                            dtype);
}

void DequantizeLinear(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  const DType from = node.TypeOf(0).dtype;
  if (!IsQuantised(from) && from != DType::kI32) {
    node.Fail("reads " + std::string(Name(from)) + ", which is not supported");
  }
  DType dtype = node.TypeOf(1).dtype;
  const auto given = static_cast<onnx::DataType>(node.Int("output_dtype", 0));
  if (given != onnx::DataType::kUndefined) {
    const std::optional<DType> known = DTypeOfOnnx(given);
    if (!known || !IsFloat(*known)) node.FailAttribute("output_dtype", "is not supported");
    dtype = *known;
  }
  const Grid grid = ReadGrid(node);
  const Shape shape = node.ShapeOf(0);
  const Factor scale = quantiser.Scale(1, shape, grid);
  const DType computed = from == DType::kI32 ? DType::kI32 : DType::kF32;
  const auto zero_point = quantiser.ZeroPoint(2, computed, shape, grid);
  quantiser.Finish(quantiser.Dequantised(node.Value(0), scale, zero_point), dtype);
}

// ONNX's quantisation of x to uint8, with a scale and a zero point that follow from its range.
struct DynamicRange {
  NetworkValue scale, zero_point;  // f32 without an axis; the latter is a whole number
};

DynamicRange RangeOfValue(Quantiser& quantiser, const NetworkValue& x) {
  ItemWriter& write = quantiser.write();
  NodeContext& node = quantiser.node();
  const Shape shape = write.ShapeOf(x);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].batch) node.Fail("has one scale for all samples of the batch");
  }
  const ItemWriter::Keys all = {KeyOfList("axes", AxesFrom(0, shape.rank()))};
  const NetworkValue low = write.Part("min", {write.Part("reduce_min", {x}, all), 0.0});
  const NetworkValue high = write.Part("max", {write.Part("reduce_max", {x}, all), 0.0});
  const NetworkValue scale = write.Part("div", {write.Part("sub", {high, low}), 255.0});
  // A tensor of zeros has the scale 0, and no quotient.
  const NetworkValue is_zero =
      write.Part("compare", {scale, 0.0}, {KeyOf("is", std::string("equal"))});
  const NetworkValue divisor = write.Part("where", {is_zero, 1.0, scale});
  const NetworkValue first = write.Part("div", {write.Part("sub", {0.0, low}), divisor});
  const NetworkValue zero_point = write.Part(
      "round", {write.Part("clip", {first},
                           {KeyOf("min", std::string("0")), KeyOf("max", std::string("255"))})});
  return {divisor, zero_point};
}

void DynamicQuantizeLinear(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  const NetworkValue x = node.Value(0);
  const DynamicRange range = RangeOfValue(quantiser, x);
  node.Set(1, {{}, range.scale});
  node.Set(2, {{}, quantiser.Cast(range.zero_point, DType::kU8)});
  quantiser.FinishQuantised(quantiser.write().Part("div", {x, range.scale}),
                            Factor{std::nullopt, range.zero_point}, DType::kU8);
}

// Emits the product of inputs `a` and `b`, less their zero points, in int32.
NetworkValue IntegerProduct(Quantiser& quantiser, const NetworkValue& a, const NetworkValue& b,
                            const NetworkValue& a_zero, const NetworkValue& b_zero) {
  NodeContext& node = quantiser.node();
  if (node.TypeOf(a).shape.rank() < 2 || node.TypeOf(b).shape.rank() < 2) {
    node.Fail("multiplies rows, and only matrices and stacks of them are supported");
  }
  return quantiser.write().Part("matmul_integer", {a, b, a_zero, b_zero});
}

void MatMulInteger(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  quantiser.Finish(IntegerProduct(quantiser, node.Value(0), node.Value(1),
                                  quantiser.ByteZeroPoint(2, node.TypeOf(0).dtype),
                                  quantiser.ByteZeroPoint(3, node.TypeOf(1).dtype)),
                   DType::kI32);
}

void ConvInteger(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  quantiser.Finish(ConvIntegerResult(node, 0, 1, quantiser.ByteZeroPoint(2, node.TypeOf(0).dtype),
                                     quantiser.ByteZeroPoint(3, node.TypeOf(1).dtype)),
                   DType::kI32);
}

// The last axes of scales that lie along rows or columns of a product of `rank` axes.
Grid AlongRows(const Shape& y) { return {y.rank() - 2, 0}; }
Grid AlongColumns(const Shape& y) { return {y.rank() - 1, 0}; }

// Makes numbers of the scale y of sums in int32, whose scale is a·b.
void FinishRequantised(Quantiser& quantiser, const NetworkValue& sums, const Factor& a,
                       const Factor& b, const Factor& y, int zero_point) {
  NodeContext& node = quantiser.node();
  const Factor factor = quantiser.Combined("div", quantiser.Combined("mul", a, b), y);
  const NetworkValue scaled =
      quantiser.write().Part("mul", {quantiser.Cast(sums, DType::kF32), factor.argument()});
  const DType dtype = node.Has(zero_point) ? node.TypeOf(zero_point).dtype : DType::kU8;
  if (!IsQuantised(dtype))
    node.Fail("gives " + std::string(Name(dtype)) + ", which is not supported");
  quantiser.FinishQuantised(
      scaled, quantiser.ZeroPoint(zero_point, DType::kF32, node.TypeOf(sums).shape, {}), dtype);
}

void QLinearMatMul(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  const NetworkValue sums = IntegerProduct(quantiser, node.Value(0), node.Value(3),
                                           quantiser.ByteZeroPoint(2, node.TypeOf(0).dtype),
                                           quantiser.ByteZeroPoint(5, node.TypeOf(3).dtype));
  const Shape y = node.TypeOf(sums).shape;
  FinishRequantised(quantiser, sums, quantiser.Scale(1, y, AlongRows(y)),
                    quantiser.Scale(4, y, AlongColumns(y)), quantiser.Scale(6, y, {}), 7);
}

// Adds a list of int32 along axis 1.
NetworkValue WithBias(Quantiser& quantiser, const NetworkValue& sums, int bias, int64_t axis) {
  if (!quantiser.node().Has(bias)) return sums;
  const NetworkValue list = quantiser.Spread(quantiser.node().Value(bias),
                                             quantiser.node().TypeOf(sums).shape, {axis, 0});
  return quantiser.write().Part("add", {sums, list});
}

void QLinearConv(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  NetworkValue sums =
      ConvIntegerResult(node, 0, 3, quantiser.ByteZeroPoint(2, node.TypeOf(0).dtype),
                        quantiser.ByteZeroPoint(5, node.TypeOf(3).dtype));
  sums = WithBias(quantiser, sums, 8, 1);
  const Shape y = node.TypeOf(sums).shape;
  FinishRequantised(quantiser, sums, quantiser.Scale(1, y, {}), quantiser.Scale(4, y, {1, 0}),
                    quantiser.Scale(6, y, {}), 7);
}

// The functions below serve the operators of com.microsoft.

// A·B in f32: A is quantised when the model runs, or its scale and zero point are inputs.
void FinishScaledProduct(Quantiser& quantiser, const NetworkValue& sums, const Factor& a,
                         const Factor& b, int bias) {
  NodeContext& node = quantiser.node();
  const Factor scale = quantiser.Combined("mul", a, b);
  NetworkValue y =
      quantiser.write().Part("mul", {quantiser.Cast(sums, DType::kF32), scale.argument()});
  if (node.Has(bias)) y = quantiser.write().Part("add", {y, node.Value(bias)});
  quantiser.Finish(y, DType::kF32);
}

void MatMulIntegerToFloat(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  const NetworkValue sums = IntegerProduct(quantiser, node.Value(0), node.Value(1),
                                           quantiser.ByteZeroPoint(4, node.TypeOf(0).dtype),
                                           quantiser.ByteZeroPoint(5, node.TypeOf(1).dtype));
  const Shape y = node.TypeOf(sums).shape;
  FinishScaledProduct(quantiser, sums, quantiser.Scale(2, y, AlongRows(y)),
                      quantiser.Scale(3, y, AlongColumns(y)), 6);
}

void DynamicQuantizeMatMul(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  ItemWriter& write = quantiser.write();
  const NetworkValue x = node.Value(0);
  const DynamicRange range = RangeOfValue(quantiser, x);
  const NetworkValue bytes =
      quantiser.Cast(quantiser.Rounded(write.Part("div", {x, range.scale}),
                                       Factor{std::nullopt, range.zero_point}, DType::kU8),
                     DType::kU8);
  const NetworkValue sums =
      IntegerProduct(quantiser, bytes, node.Value(1), quantiser.Cast(range.zero_point, DType::kU8),
                     quantiser.ByteZeroPoint(3, node.TypeOf(1).dtype));
  const Shape y = node.TypeOf(sums).shape;
  FinishScaledProduct(quantiser, sums, {std::nullopt, range.scale},
                      quantiser.Scale(2, y, AlongColumns(y)), 4);
}

// Input `i`, with its scale and its zero point behind it, in f32.
NetworkValue DequantisedInput(Quantiser& quantiser, int i) {
  NodeContext& node = quantiser.node();
  const Shape shape = node.ShapeOf(i);
  return quantiser.Dequantised(node.Value(i), quantiser.Scale(i + 1, shape, {}),
                               quantiser.ZeroPoint(i + 2, DType::kF32, shape, {}));
}

// Quantises a result. Its scale and its zero point are inputs `scale` and behind.
void FinishLike(Quantiser& quantiser, const NetworkValue& y, int scale) {
  NodeContext& node = quantiser.node();
  const Shape shape = node.TypeOf(y).shape;
  const DType dtype = node.Has(scale + 1) ? node.TypeOf(scale + 1).dtype : node.TypeOf(0).dtype;
  const NetworkValue divided =
      quantiser.write().Part("div", {y, quantiser.Scale(scale, shape, {}).argument()});
  quantiser.FinishQuantised(divided, quantiser.ZeroPoint(scale + 1, DType::kF32, shape, {}), dtype);
}

void QLinearBinary(NodeContext& node, const Adapter& row) {
  Quantiser quantiser(node);
  const NetworkValue a = DequantisedInput(quantiser, 0), b = DequantisedInput(quantiser, 3);
  FinishLike(quantiser, quantiser.write().Part(std::string(row.op), {a, b}), 6);
}

void QLinearUnary(NodeContext& node, const Adapter& row) {
  Quantiser quantiser(node);
  ItemWriter::Keys keys;
  if (row.op == "leaky_relu") keys.push_back(KeyOf("slope", NumberText(node.Real("alpha", 0.01f))));
  const NetworkValue x = DequantisedInput(quantiser, 0);
  FinishLike(quantiser, quantiser.write().Part(std::string(row.op), {x}, std::move(keys)), 3);
}

void QLinearGlobalAveragePool(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  node.Only("channels_last", 0);
  const int rank = node.ShapeOf(0).rank();
  if (rank < 3) node.Fail("reads " + node.ShapeOf(0).ToString() + ", which is no stack of images");
  const NetworkValue x = DequantisedInput(quantiser, 0);
  FinishLike(
      quantiser,
      quantiser.write().Part("reduce_mean", {x},
                             {KeyOfList("axes", AxesFrom(2, rank)), KeyOf("keep_dims", true)}),
      3);
}

// The inputs come in threes behind the scale and the zero point of the result.
void QLinearConcat(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  std::vector<Argument> parts;
  for (int i = 2; i + 1 < node.num_inputs(); i += 3)
    parts.push_back(DequantisedInput(quantiser, i));
  if (parts.empty()) node.Fail("has nothing to join");
  const int64_t axis = node.Axis(node.Int("axis", 0), node.ShapeOf(2).rank());
  FinishLike(quantiser, quantiser.write().Part("concat", parts, {KeyOf("axis", axis)}), 0);
}

NetworkValue TransposedIf(Quantiser& quantiser, const NetworkValue& x, bool transposes) {
  return transposes ? quantiser.write().Transposed(x, {1, 0}) : x;
}

void QGemm(NodeContext& node, const Adapter&) {
  Quantiser quantiser(node);
  const float alpha = node.Real("alpha", 1);
  const NetworkValue a = TransposedIf(quantiser, node.Value(0), node.Int("transA", 0) != 0);
  const NetworkValue b = TransposedIf(quantiser, node.Value(3), node.Int("transB", 0) != 0);
  NetworkValue sums =
      IntegerProduct(quantiser, a, b, quantiser.ByteZeroPoint(2, node.TypeOf(a).dtype),
                     quantiser.ByteZeroPoint(5, node.TypeOf(b).dtype));
  const Shape y = node.TypeOf(sums).shape;
  if (node.Has(6)) {
    sums = quantiser.write().Part("add", {sums, node.Value(6)});
  }
  Factor of_a = quantiser.Scale(1, y, AlongRows(y));
  if (alpha != 1) of_a = quantiser.Combined("mul", of_a, {alpha, {}});
  const Factor of_b = quantiser.Scale(4, y, AlongColumns(y));
  if (!node.Has(7)) return FinishScaledProduct(quantiser, sums, of_a, of_b, 9);
  FinishRequantised(quantiser, sums, of_a, of_b, quantiser.Scale(7, y, {}), 8);
}

constexpr int kAny = 1 << 20;
constexpr Adapter kQuantised[] = {
    {"ConvInteger", ConvInteger, "", 4},
    {"DequantizeLinear", DequantizeLinear, "", 3},
    {"DynamicQuantizeLinear", DynamicQuantizeLinear},
    {"MatMulInteger", MatMulInteger, "", 4},
    {"QLinearConv", QLinearConv, "", 9},
    {"QLinearMatMul", QLinearMatMul, "", 8},
    {"QuantizeLinear", QuantizeLinear, "", 3},
};

constexpr Adapter kQuantisedContrib[] = {
    {"DequantizeLinear", DequantizeLinear, "", 3},
    {"DynamicQuantizeMatMul", DynamicQuantizeMatMul, "", 5},
    {"MatMulIntegerToFloat", MatMulIntegerToFloat, "", 7},
    {"QGemm", QGemm, "", 9},
    {"QLinearAdd", QLinearBinary, "add", 8},
    {"QLinearConcat", QLinearConcat, "", kAny},
    {"QLinearGlobalAveragePool", QLinearGlobalAveragePool, "", 5},
    {"QLinearLeakyRelu", QLinearUnary, "leaky_relu", 5},
    {"QLinearMul", QLinearBinary, "mul", 8},
    {"QLinearSigmoid", QLinearUnary, "sigmoid", 5},
    {"QuantizeLinear", QuantizeLinear, "", 3},
};

}  // namespace

std::span<const Adapter> QuantisedAdapters() { return kQuantised; }
std::span<const Adapter> QuantisedContribAdapters() { return kQuantisedContrib; }

}  // namespace cgrun
