// Exports operators that compute element by element, and those that look numbers up.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "src/export/emitters.h"
#include "src/ops/cast.h"
#include "src/ops/clip.h"
#include "src/ops/compare.h"
#include "src/ops/elu.h"
#include "src/ops/embedding.h"
#include "src/ops/fill.h"
#include "src/ops/gelu.h"
#include "src/ops/infer.h"
#include "src/ops/leaky_relu.h"
#include "src/ops/mod.h"
#include "src/ops/normalize.h"
#include "src/ops/one_hot.h"
#include "src/ops/random.h"
#include "src/ops/softmax.h"

namespace cgrun {
namespace {

// Passes the inputs on; there is no attribute.
void Plain(NodeEmitter& node, const Emitter& row) {
  NodeEmitter::Values inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.In(i));
  node.Set(node.Emit(row.onnx, inputs));
}

// Min and Max broadcast from opset 8 on.
void Extremum(NodeEmitter& node, const Emitter& row) {
  if (node.ShapeOf(0) != node.ShapeOf(1)) node.Need(8);
  Plain(node, row);
}

void LeakyRelu(NodeEmitter& node, const Emitter&) {
  const double slope = node.attributes<LeakyReluAttributes>().slope;
  node.Set(node.Emit("LeakyRelu", {node.In(0)}, {RealOf("alpha", slope)}));
}

void Elu(NodeEmitter& node, const Emitter&) {
  const double alpha = node.attributes<EluAttributes>().alpha;
  node.Set(node.Emit("Elu", {node.In(0)}, {RealOf("alpha", alpha)}));
}

// ONNX has the remainder with the sign of b for integers alone.
void Mod(NodeEmitter& node, const Emitter&) {
  const bool truncates = node.attributes<ModAttributes>().truncate;
  const OnnxValue a = node.In(0), b = node.In(1);
  if (truncates || !IsFloat(a.dtype)) {
    return node.Set(node.Emit("Mod", {a, b}, {IntOf("fmod", truncates ? 1 : 0)}));
  }
  const OnnxValue whole = node.Emit("Floor", {node.Emit("Div", {a, b})});
  node.Set(node.Emit("Sub", {a, node.Emit("Mul", {whole, b})}));
}

// Opset 20 has the operator; before, Φ(x) comes from Erf or Tanh.
void Gelu(NodeEmitter& node, const Emitter&) {
  const std::string& approximate = node.attributes<GeluAttributes>().approximate;
  const OnnxValue x = node.In(0);
  if (node.Has(20)) {
    return node.Set(node.Emit("Gelu", {x}, {TextOf("approximate", approximate)}));
  }
  const auto number = [&](double value) { return node.Number(x.dtype, value); };
  OnnxValue inner;
  if (approximate == "none") {
    inner = node.Emit("Erf", {node.Emit("Div", {x, number(std::numbers::sqrt2)})});
  } else {
    const OnnxValue square = node.Emit("Mul", {x, x});
    const OnnxValue cubic = node.Emit("Mul", {node.Emit("Mul", {square, x}), number(0.044715)});
    const OnnxValue sum = node.Emit("Add", {x, cubic});
    const double factor = std::sqrt(2 / std::numbers::pi);
    inner = node.Emit("Tanh", {node.Emit("Mul", {sum, number(factor)})});
  }
  const OnnxValue gate = node.Emit("Add", {inner, number(1)});
  node.Set(node.Emit("Mul", {node.Emit("Mul", {x, gate}), number(0.5)}));
}

void Silu(NodeEmitter& node, const Emitter&) {
  const OnnxValue x = node.In(0);
  if (node.Has(24)) return node.Set(node.Emit("Swish", {x}));
  node.Set(node.Emit("Mul", {x, node.Emit("Sigmoid", {x})}));
}

// Opset 14 has the operator; before, there is HardSigmoid.
void HardSwish(NodeEmitter& node, const Emitter&) {
  const OnnxValue x = node.In(0);
  if (node.Has(14)) return node.Set(node.Emit("HardSwish", {x}));
  const OnnxValue gate =
      node.Emit("HardSigmoid", {x}, {RealOf("alpha", 1.0 / 6), RealOf("beta", 0.5)});
  node.Set(node.Emit("Mul", {x, gate}));
}

// Before opset 13, all axes from `axis` on were one.
void Softmax(NodeEmitter& node, const Emitter& row) {
  const int rank = node.ShapeOf(0).rank();
  const int axis = *NormalizeAxis(node.attributes<SoftmaxAttributes>().axis, rank);
  if (axis != rank - 1) node.Need(13);
  node.Set(node.Emit(row.onnx, {node.In(0)}, {IntOf("axis", axis)}));
}

bool IsFloatExactly(double value) {
  return !std::isfinite(value) || static_cast<double>(static_cast<float>(value)) == value;
}

// Bounds became inputs in opset 11.
void Clip(NodeEmitter& node, const Emitter&) {
  const auto& bounds = node.attributes<ClipAttributes>();
  const OnnxValue x = node.In(0);
  const bool is_exact = IsFloatExactly(bounds.min) && IsFloatExactly(bounds.max);
  if (x.dtype == DType::kF64 && !is_exact) node.Need(11);
  if (!node.Has(11)) {
    NodeEmitter::AttributeList attributes;
    if (std::isfinite(bounds.max)) attributes.push_back(RealOf("max", bounds.max));
    if (std::isfinite(bounds.min)) attributes.push_back(RealOf("min", bounds.min));
    return node.Set(node.Emit("Clip", {x}, std::move(attributes)));
  }
  const auto bound = [&](double value) {
    return std::isfinite(value) ? node.Number(x.dtype, value) : NodeEmitter::Absent();
  };
  node.Set(node.Emit("Clip", {x, bound(bounds.min), bound(bounds.max)}));
}

struct Comparison {
  std::string_view is;
  const char* onnx;
};

constexpr Comparison kComparisons[] = {
    {"less", "Less"},       {"less_or_equal", "LessOrEqual"},
    {"equal", "Equal"},     {"not_equal", "Equal"},
    {"greater", "Greater"}, {"greater_or_equal", "GreaterOrEqual"}};

// ONNX orders numbers alone.
void Compare(NodeEmitter& node, const Emitter&) {
  const std::string& is = node.attributes<CompareAttributes>().is;
  const Comparison& comparison = *std::ranges::find(kComparisons, is, &Comparison::is);
  OnnxValue a = node.In(0), b = node.In(1);
  const bool orders = std::string_view(comparison.onnx) != "Equal";
  if (orders && a.dtype == DType::kBool) {
    a = node.Cast(a, DType::kI32);
    b = node.Cast(b, DType::kI32);
  }
  const OnnxValue result = node.Emit(comparison.onnx, {a, b}, {}, DType::kBool);
  node.Set(is == "not_equal" ? node.Emit("Not", {result}) : result);
}

void Where(NodeEmitter& node, const Emitter&) {
  node.Set(node.Emit("Where", {node.In(0), node.In(1), node.In(2)}, {}, node.In(1).dtype));
}

// The result is the input, outside of training at least.
void SameValue(NodeEmitter& node, const Emitter&) { node.Set(node.In(0)); }

void CastTo(NodeEmitter& node, const Emitter&) {
  node.Set(node.Cast(node.In(0), node.attributes<CastAttributes>().to));
}

void Fill(NodeEmitter& node, const Emitter&) {
  const DType dtype = node.OutType().dtype;
  HostTensor value(dtype, {1});
  if (dtype == DType::kF16) node.Fail("it makes numbers of f16");
  value.Set(0, node.attributes<FillAttributes>().value);
  const Shape& shape = node.ShapeOf(0);
  const OnnxValue sizes = node.Sizes(node.In(0), shape, 0, shape.rank());
  node.Set(node.Emit("ConstantOfShape", {sizes}, {TensorAttributeOf("value", value)}, dtype));
}

// Returns a number for all, or one for each channel, which is axis 1.
OnnxValue OfChannels(NodeEmitter& node, DType dtype, const RealList& numbers, int rank) {
  if (numbers.size() == 1) return node.Number(dtype, numbers[0]);
  std::vector<Dim> dims(static_cast<size_t>(rank - 1), Dim(1));
  dims[0] = Dim(std::ssize(numbers));
  return node.Numbers(dtype, numbers, Shape(dims));
}

// Computes (x·scale - mean) / std, in f32 at least.
void Normalize(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<NormalizeAttributes>();
  const auto all_are = [](const RealList& list, double value) {
    return std::ranges::all_of(list, [&](double number) { return number == value; });
  };
  const DType dtype = a.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const int rank = node.ShapeOf(0).rank();
  OnnxValue value = node.Cast(node.In(0), dtype);
  if (a.scale != 1) value = node.Emit("Mul", {value, node.Number(dtype, a.scale)});
  if (!all_are(a.mean, 0)) {
    value = node.Emit("Sub", {value, OfChannels(node, dtype, a.mean, rank)});
  }
  if (!all_are(a.std, 1)) {
    value = node.Emit("Div", {value, OfChannels(node, dtype, a.std, rank)});
  }
  node.Set(node.Cast(value, a.dtype));
}

OnnxValue AsIndices(NodeEmitter& node) {
  const OnnxValue ids = node.In(0);
  return ids.dtype == DType::kU8 ? node.Cast(ids, DType::kI64) : ids;
}

void Embedding(NodeEmitter& node, const Emitter&) {
  const OnnxValue table = node.In(1);
  node.Set(node.Emit("Gather", {table, AsIndices(node)}, {IntOf("axis", 0)}));
}

// Negative indices count from the end in ONNX. They become one beyond the end, whose row is all
// `off_value`.
void OneHot(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<OneHotAttributes>();
  OnnxValue ids = node.Cast(node.In(0), DType::kI64);
  const OnnxValue depth = node.Number(DType::kI64, static_cast<double>(a.classes));
  if (node.In(0).dtype != DType::kU8) {
    const OnnxValue negative =
        node.Emit("Less", {ids, node.Number(DType::kI64, 0)}, {}, DType::kBool);
    ids = node.Emit("Where", {negative, depth, ids}, {}, DType::kI64);
  }
  const DType dtype = a.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const OnnxValue values = node.Numbers(dtype, {a.off_value, a.on_value}, {2});
  const OnnxValue rows = node.Emit("OneHot", {ids, depth, values}, {IntOf("axis", -1)}, dtype);
  node.Set(node.Cast(rows, a.dtype));
}

// Random numbers become an input, which the user feeds.
void Draw(NodeEmitter& node, const Emitter&) {
  const std::string name = node.state().graph.values[node.node().outputs[0]].name;
  const size_t dot = name.rfind('.');
  const OnnxValue input =
      node.state().AddInput(dot == name.npos ? name : name.substr(dot + 1), node.OutType());
  node.state().drawn.push_back(input.name);
  node.Set(input);
}

constexpr Emitter kElementwise[] = {
    {OpId::abs, Plain, "Abs"},
    {OpId::acos, Plain, "Acos"},
    {OpId::acosh, Plain, "Acosh"},
    {OpId::add, Plain, "Add"},
    {OpId::asin, Plain, "Asin"},
    {OpId::asinh, Plain, "Asinh"},
    {OpId::atan, Plain, "Atan"},
    {OpId::atanh, Plain, "Atanh"},
    {OpId::cast, CastTo, "", "to"},
    {OpId::ceil, Plain, "Ceil"},
    {OpId::clip, Clip, "", "min max"},
    {OpId::color_jitter, SameValue, "", "*"},
    {OpId::compare, Compare, "", "is"},
    {OpId::cos, Plain, "Cos"},
    {OpId::cosh, Plain, "Cosh"},
    {OpId::div, Plain, "Div"},
    {OpId::dropout, SameValue, "", "*"},
    {OpId::elu, Elu, "", "alpha"},
    {OpId::embedding, Embedding, "", "entries units dtype"},
    {OpId::erf, Plain, "Erf"},
    {OpId::exp, Plain, "Exp"},
    {OpId::fill, Fill, "", "value"},
    {OpId::floor, Plain, "Floor"},
    {OpId::gelu, Gelu, "", "approximate"},
    {OpId::hard_swish, HardSwish},
    {OpId::identity, SameValue},
    {OpId::leaky_relu, LeakyRelu, "", "slope"},
    {OpId::log, Plain, "Log"},
    {OpId::log_softmax, Softmax, "LogSoftmax", "axis"},
    {OpId::logical_and, Plain, "And"},
    {OpId::logical_not, Plain, "Not"},
    {OpId::logical_or, Plain, "Or"},
    {OpId::logical_xor, Plain, "Xor"},
    {OpId::max, Extremum, "Max"},
    {OpId::min, Extremum, "Min"},
    {OpId::mod, Mod, "", "truncate"},
    {OpId::mul, Plain, "Mul"},
    {OpId::neg, Plain, "Neg"},
    {OpId::normalize, Normalize, "", "scale mean std dtype"},
    {OpId::one_hot, OneHot, "", "classes on_value off_value dtype"},
    {OpId::parameter, SameValue, "", "shape type"},
    {OpId::pow, Plain, "Pow"},
    {OpId::random_erasing, SameValue, "", "*"},
    {OpId::random_flip, SameValue, "", "*"},
    {OpId::random_normal, Draw, "", "*"},
    {OpId::random_rotate, SameValue, "", "*"},
    {OpId::random_uniform, Draw, "", "*"},
    {OpId::relu, Plain, "Relu"},
    {OpId::round, Plain, "Round"},
    {OpId::sigmoid, Plain, "Sigmoid"},
    {OpId::sign, Plain, "Sign"},
    {OpId::silu, Silu},
    {OpId::sin, Plain, "Sin"},
    {OpId::sinh, Plain, "Sinh"},
    {OpId::softmax, Softmax, "Softmax", "axis"},
    {OpId::softplus, Plain, "Softplus"},
    {OpId::sqrt, Plain, "Sqrt"},
    {OpId::sub, Plain, "Sub"},
    {OpId::tan, Plain, "Tan"},
    {OpId::tanh, Plain, "Tanh"},
    {OpId::where, Where},
};

}  // namespace

std::span<const Emitter> ElementwiseEmitters() { return kElementwise; }

}  // namespace cgrun
