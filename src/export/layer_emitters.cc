// Exports layers with weights, pools and normalisation.
#include <algorithm>
#include <numeric>
#include <utility>

#include "src/export/emitters.h"
#include "src/ops/batch_norm.h"
#include "src/ops/conv.h"
#include "src/ops/conv_integer.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/infer.h"
#include "src/ops/layer_norm.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "src/ops/pool.h"
#include "src/ops/window.h"

namespace cgrun {
namespace {

using AttributeList = NodeEmitter::AttributeList;

std::vector<int64_t> PadsOf(const Window& window) {
  return {window.y.before, window.x.before, window.y.after, window.x.after};
}

AttributeList WindowAttributesOf(const WindowAttributes& given, const Window& window,
                                 int64_t groups) {
  return {IntsOf("dilations", given.dilation), IntOf("group", groups),
          IntsOf("kernel_shape", given.kernel), IntsOf("pads", PadsOf(window)),
          IntsOf("strides", {window.y.stride, window.x.stride})};
}

NodeEmitter::Values AllInputs(const NodeEmitter& node) {
  NodeEmitter::Values inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.In(i));
  return inputs;
}

void Conv(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ConvAttributes>();
  const Window window = WindowOf(node.ShapeOf(0), a.window());
  node.Set(node.Emit("Conv", AllInputs(node), WindowAttributesOf(a.window(), window, a.groups)));
}

void ConvInteger(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ConvIntegerAttributes>();
  const WindowAttributes given = a.window(node.ShapeOf(1));
  const Window window = WindowOf(node.ShapeOf(0), given);
  node.Set(node.Emit("ConvInteger", AllInputs(node), WindowAttributesOf(given, window, a.groups),
                     DType::kI32));
}

void MatmulInteger(NodeEmitter& node, const Emitter&) {
  node.Set(node.Emit("MatMulInteger", AllInputs(node), {}, DType::kI32));
}

// Its window is that of the convolution that goes back, from y to x.
void ConvTranspose(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ConvTransposeAttributes>();
  const Window window = WindowOf(node.OutType().shape, a.window());
  AttributeList attributes = WindowAttributesOf(a.window(), window, a.groups);
  attributes.push_back(IntsOf("output_padding", a.output_padding));
  node.Set(node.Emit("ConvTranspose", AllInputs(node), std::move(attributes)));
}

// Adds padding as far as the last window hangs over the end. So `ceil_mode`, whose meaning differs
// between programs, is not needed. Padding that no window reaches stays.
void CoverLastWindow(WindowAxis& axis) {
  const int64_t end = axis.InputOf(axis.output - 1, axis.kernel - 1) + 1;
  axis.after = std::max(axis.after, end - axis.input);
}

void MaxPool(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<MaxPoolAttributes>();
  Window window = WindowOf(node.ShapeOf(0), a.window());
  CoverLastWindow(window.y);
  CoverLastWindow(window.x);
  AttributeList attributes = {IntsOf("kernel_shape", a.kernel), IntsOf("pads", PadsOf(window)),
                              IntsOf("strides", {window.y.stride, window.x.stride})};
  if (a.dilation != IntList{1, 1}) {
    node.Need(10);
    attributes.push_back(IntsOf("dilations", a.dilation));
  }
  node.Set(node.Emit("MaxPool", {node.In(0)}, std::move(attributes)));
}

// Returns the positions of each window divided by those that count: what hangs over the padding
// does not.
std::vector<double> CountFactors(const WindowAxis& axis) {
  std::vector<double> factors;
  for (int64_t o = 0; o < axis.output; ++o) {
    const int64_t last = axis.InputOf(o, axis.kernel - 1);
    const int64_t over = std::max<int64_t>(0, last - (axis.input + axis.after - 1));
    factors.push_back(static_cast<double>(axis.kernel) / static_cast<double>(axis.kernel - over));
  }
  return factors;
}

// Multiplies by a factor for each place of y, if a window hangs over the padding.
OnnxValue Recounted(NodeEmitter& node, const OnnxValue& y, const Window& window) {
  const std::vector<double> rows = CountFactors(window.y), columns = CountFactors(window.x);
  const auto is_one = [](double factor) { return factor == 1; };
  if (std::ranges::all_of(rows, is_one) && std::ranges::all_of(columns, is_one)) return y;
  std::vector<double> factors;
  for (const double row : rows) {
    for (const double column : columns) factors.push_back(row * column);
  }
  const Shape shape{window.y.output, window.x.output};
  return node.Emit("Mul", {y, node.Numbers(y.dtype, factors, shape)});
}

void AvgPool(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<AvgPoolAttributes>();
  const Window window = WindowOf(node.ShapeOf(0), a.window());
  Window covered = window;
  CoverLastWindow(covered.y);
  CoverLastWindow(covered.x);
  const OnnxValue y = node.Emit(
      "AveragePool", {node.In(0)},
      {IntOf("count_include_pad", a.count_include_pad ? 1 : 0), IntsOf("kernel_shape", a.kernel),
       IntsOf("pads", PadsOf(covered)), IntsOf("strides", {window.y.stride, window.x.stride})});
  node.Set(a.count_include_pad ? Recounted(node, y, window) : y);
}

void GlobalAvgPool(NodeEmitter& node, const Emitter&) {
  node.Set(node.Emit("GlobalAveragePool", {node.In(0)}));
}

// In opset 15 its statistics got a type of their own.
void BatchNorm(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<BatchNormAttributes>();
  if (node.In(0).dtype != node.In(1).dtype) node.Need(15);
  node.Set(node.Emit("BatchNormalization", AllInputs(node), {RealOf("epsilon", a.epsilon)}));
}

std::vector<int64_t> AxesFrom(int axis, int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

// Computes (x − mean) ÷ √(variance + epsilon).
OnnxValue Standardized(NodeEmitter& node, const std::vector<int64_t>& axes, double epsilon) {
  const OnnxValue x = node.In(0);
  const OnnxValue centred = node.Emit("Sub", {x, node.Reduce("ReduceMean", x, axes, true)});
  const OnnxValue square = node.Emit("Mul", {centred, centred});
  const OnnxValue variance = node.Reduce("ReduceMean", square, axes, true);
  const OnnxValue sum = node.Emit("Add", {variance, node.Number(x.dtype, epsilon)});
  return node.Emit("Div", {centred, node.Emit("Sqrt", {sum})});
}

// Opset 17 has it; before, it is made of its parts. Statistics of bf16 would be too coarse.
void LayerNorm(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<LayerNormAttributes>();
  const Shape& shape = node.ShapeOf(0);
  const int axis = *NormalizeAxis(a.axis, shape.rank());
  if (node.In(0).dtype == DType::kBF16) node.Need(17);
  if (!node.Has(17)) {
    OnnxValue y = Standardized(node, AxesFrom(axis, shape.rank()), a.epsilon);
    if (a.affine) y = node.Emit("Add", {node.Emit("Mul", {y, node.In(1)}), node.In(2)});
    return node.Set(y);
  }
  NodeEmitter::Values inputs = AllInputs(node);
  if (!a.affine) {
    const Shape part(std::vector<Dim>(shape.begin() + axis, shape.end()));
    const std::vector<double> ones(static_cast<size_t>(part.Elements()), 1);
    inputs.push_back(node.Numbers(inputs[0].dtype, ones, part));
  }
  node.Set(
      node.Emit("LayerNormalization", inputs, {IntOf("axis", axis), RealOf("epsilon", a.epsilon)}));
}

// Gemm is for matrices, and its bias may be absent from opset 11 on. Rows of more axes multiply the
// weight, which has PyTorch's order, transposed.
void Linear(NodeEmitter& node, const Emitter&) {
  const bool has_bias = node.attributes<LinearAttributes>().bias;
  NodeEmitter::Values inputs = AllInputs(node);
  if (node.ShapeOf(0).rank() == 2) {
    if (!has_bias && !node.Has(11)) inputs.push_back(node.Numbers(inputs[0].dtype, {0}, {1}));
    return node.Set(node.Emit("Gemm", inputs, {IntOf("transB", 1)}));
  }
  OnnxValue y = node.Emit("MatMul", {inputs[0], node.Transpose(inputs[1], {1, 0})});
  if (has_bias) y = node.Emit("Add", {y, inputs[2]});
  node.Set(y);
}

OnnxValue Factor(NodeEmitter& node, int i, bool transposed) {
  if (!transposed) return node.In(i);
  std::vector<int64_t> perm = AxesFrom(0, node.ShapeOf(i).rank());
  std::swap(perm[perm.size() - 2], perm.back());
  return node.Transpose(node.In(i), perm);
}

void Matmul(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<MatmulAttributes>();
  const OnnxValue left = Factor(node, 0, a.transpose_a);
  node.Set(node.Emit("MatMul", {left, Factor(node, 1, a.transpose_b)}));
}

// Channels are axis 1.
void Bias(NodeEmitter& node, const Emitter&) {
  const int rank = node.ShapeOf(0).rank();
  OnnxValue bias = node.In(1);
  if (rank > 2) {
    std::vector<Dim> dims(static_cast<size_t>(rank - 1), Dim(1));
    dims[0] = node.ShapeOf(1)[0];
    bias = node.Reshape(bias, Shape(dims));
  }
  node.Set(node.Emit("Add", {node.In(0), bias}));
}

constexpr Emitter kLayers[] = {
    {OpId::avg_pool, AvgPool, "", "kernel stride padding ceil_mode count_include_pad"},
    {OpId::batch_norm, BatchNorm, "", "epsilon momentum"},
    {OpId::bias, Bias},
    {OpId::conv, Conv, "", "filters kernel stride padding dilation groups bias"},
    {OpId::conv_integer, ConvInteger, "", "stride padding dilation groups"},
    {OpId::conv_transpose, ConvTranspose, "",
     "filters kernel stride padding output_padding dilation groups bias"},
    {OpId::global_avg_pool, GlobalAvgPool},
    {OpId::layer_norm, LayerNorm, "", "axis epsilon affine"},
    {OpId::linear, Linear, "", "units bias"},
    {OpId::matmul, Matmul, "", "transpose_a transpose_b"},
    {OpId::matmul_integer, MatmulInteger},
    {OpId::max_pool, MaxPool, "", "kernel stride padding dilation ceil_mode"},
};

}  // namespace

std::span<const Emitter> LayerEmitters() { return kLayers; }

}  // namespace cgrun
