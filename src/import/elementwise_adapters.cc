// Operators that compute element by element.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "src/import/adapters.h"

namespace cgrun {
namespace {

std::string OpName(const Adapter& row) { return std::string(row.op); }

void LeakyRelu(NodeContext& node, const Adapter&) {
  const float slope = node.Real("alpha", 0.01f);
  node.Set(node.Emit("leaky_relu", {{node.Value(0), ""}}, {KeyOf("slope", NumberText(slope))}));
}

void Gelu(NodeContext& node, const Adapter&) {
  const std::string approximate = node.Text("approximate", "none");
  std::vector<TreeEntry> keys;
  if (approximate != "none") keys.push_back(KeyOf("approximate", approximate));
  node.Set(node.Emit("gelu", {{node.Value(0), ""}}, std::move(keys)));
}

NetworkValue Clipped(NodeContext& node, const NetworkValue& x, std::optional<double> low,
                     std::optional<double> high, const std::string& part = "") {
  std::vector<TreeEntry> keys;
  if (low && std::isfinite(*low)) keys.push_back(KeyOf("min", NumberText(*low)));
  if (high && std::isfinite(*high)) keys.push_back(KeyOf("max", NumberText(*high)));
  return node.Emit("clip", {{x, ""}}, std::move(keys), {}, part);
}

// max(0, min(1, alpha·x + beta)).
void HardSigmoid(NodeContext& node, const Adapter&) {
  const float alpha = node.Real("alpha", 0.2f), beta = node.Real("beta", 0.5f);
  const NetworkValue scaled =
      node.Emit("mul", {{node.Value(0), ""}, {{}, NumberText(alpha)}}, {}, {}, "scaled");
  const NetworkValue shifted =
      node.Emit("add", {{scaled, ""}, {{}, NumberText(beta)}}, {}, {}, "shifted");
  node.Set(Clipped(node, shifted, 0, 1));
}

// Bounds that are computed, and those of integers.
void ClipByExtrema(NodeContext& node) {
  NetworkValue x = node.Value(0);
  if (node.Has(1)) {
    x = node.Emit("max", {{x, ""}, {node.Value(1), ""}}, {}, {}, node.Has(2) ? "above" : "");
  }
  if (node.Has(2)) x = node.Emit("min", {{x, ""}, {node.Value(2), ""}});
  node.Set(x);
}

// Bounds became inputs in opset 11.
void Clip(NodeContext& node, const Adapter&) {
  const bool are_known =
      (!node.Has(1) || node.IsConstant(1)) && (!node.Has(2) || node.IsConstant(2));
  if (!are_known || !IsFloat(node.TypeOf(0).dtype)) return ClipByExtrema(node);
  std::optional<double> bounds[2];
  for (int i = 0; i < 2; ++i) {
    if (!node.Has(i + 1)) continue;
    bounds[i] = node.Number(i + 1);
    if (!bounds[i]) node.Fail("its bounds must be one number each");
  }
  // If the bounds cross, ONNX takes the larger one, which is the upper bound for cgrun.
  if (bounds[0] && bounds[1] && *bounds[0] > *bounds[1]) bounds[0] = bounds[1];
  node.Set(Clipped(node, node.Value(0), bounds[0], bounds[1]));
}

void OldClip(NodeContext& node, const Adapter&) {
  constexpr float kLargest = 3.4028234663852886e+38f;
  const float low = node.Real("min", -kLargest), high = node.Real("max", kLargest);
  node.Set(Clipped(node, node.Value(0), low == -kLargest ? std::nullopt : std::optional(low),
                   high == kLargest ? std::nullopt : std::optional(high)));
}

// Returns a value, or a constant of one element as a number. If a number would lose axes of the
// result, the constant stays a value.
Network::Input InputOrNumber(NodeContext& node, int i, int other) {
  if (!node.IsConstant(i) || !node.Has(other) || node.IsConstant(other)) return {node.Value(i), ""};
  constexpr double kMostExact = 9007199254740992;  // 2⁵³
  const bool has_more_axes =
      static_cast<int>(node.ConstantInput(i).dims.size()) > node.ShapeOf(other).rank();
  const std::optional<double> number = node.Number(i);
  const bool is_exact = number && (IsFloat(node.TypeOf(i).dtype) ? std::isfinite(*number)
                                                                 : std::abs(*number) < kMostExact);
  // A number has the type of the other operand.
  const bool fits = is_exact && !has_more_axes && node.TypeOf(i).dtype != DType::kBool &&
                    node.TypeOf(i).dtype == node.TypeOf(other).dtype;
  if (!fits) return {node.Value(i), ""};
  return {{}, NumberText(*number)};
}

Network::Input InputOrNumber(NodeContext& node, int i) {
  return InputOrNumber(node, i, i == 0 ? 1 : 0);
}

// A constant is added to a value, or with the factor -1 taken from it. These are their inputs.
struct Bias {
  int value, constant;
  double factor;
};

// The axis along which alone the constant differs, when its last axis is the last one of a shape of
// `rank`; nothing for several.
std::optional<int> OnlyAxis(const Constant& constant, int rank) {
  std::optional<int> only;
  const int shift = rank - static_cast<int>(constant.dims.size());
  if (shift < 0) return std::nullopt;
  for (size_t i = 0; i < constant.dims.size(); ++i) {
    if (constant.dims[i] == 1) continue;
    if (only) return std::nullopt;
    only = static_cast<int>(i) + shift;
  }
  return only;
}

// The MatMul before becomes a layer with a bias, as it was before it was exported.
bool BecomesBiasOfLinear(NodeContext& node, const Bias& bias) {
  const NetworkValue& value = node.Value(bias.value);
  const Item* layer = node.state().network.ItemOf(value);
  if (layer == nullptr || layer->op != "linear" || !node.IsOnlyUse(bias.value)) return false;
  const auto without = std::ranges::find(layer->keys, "bias", &TreeEntry::key);
  if (without == layer->keys.end()) return false;
  Item item = *layer;
  std::erase_if(item.keys, [](const TreeEntry& key) { return key.key == "bias"; });
  Weight weight{"bias", node.ConstantInput(bias.constant)};
  weight.factor = bias.factor;
  item.weights.push_back(std::move(weight));
  if (const std::string* output = node.ReservedName()) item.name = *output;
  node.Set(node.state().network.Replace(value, std::move(item)));
  return true;
}

bool BecomesBias(NodeContext& node, const Bias& bias) {
  const Constant& constant = node.ConstantInput(bias.constant);
  const Shape& shape = node.ShapeOf(bias.value);
  const std::optional<int> axis = OnlyAxis(constant, shape.rank());
  if (!axis || *axis < 1 || Dim(ElementsOf(constant)) != shape[*axis]) return false;
  if (!IsFloat(node.TypeOf(bias.value).dtype)) return false;
  if (*axis == shape.rank() - 1 && BecomesBiasOfLinear(node, bias)) return true;
  if (*axis != 1) return false;
  Weight weight{"bias", constant};
  weight.factor = bias.factor;
  node.Set(node.Emit("bias", {{node.Value(bias.value), ""}}, {}, {std::move(weight)}));
  return true;
}

void Binary(NodeContext& node, const Adapter& row) {
  node.Only("broadcast", 0);
  const bool is_sum = row.op == "add";
  const bool a_is_constant = node.IsConstant(0), b_is_constant = node.IsConstant(1);
  if (is_sum && a_is_constant && !b_is_constant && BecomesBias(node, {1, 0, 1})) return;
  if ((is_sum || row.op == "sub") && b_is_constant && !a_is_constant &&
      BecomesBias(node, {0, 1, is_sum ? 1.0 : -1.0})) {
    return;
  }
  const Network::Input a = InputOrNumber(node, 0), b = InputOrNumber(node, 1);
  node.Set(node.Emit(OpName(row), {a, b}));
}

void Compare(NodeContext& node, const Adapter& row) {
  const Network::Input a = InputOrNumber(node, 0), b = InputOrNumber(node, 1);
  node.Set(node.Emit("compare", {a, b}, {KeyOf("is", OpName(row))}));
}

// Sum, Max and Min take any number of inputs.
void Variadic(NodeContext& node, const Adapter& row) {
  const int count = node.num_inputs();
  NetworkValue sum = node.Value(0);
  if (count == 1) return node.Set(sum);
  for (int i = 1; i < count; ++i) {
    const std::string part = i + 1 < count ? std::to_string(i) : "";
    sum = node.Emit(OpName(row), {{sum, ""}, InputOrNumber(node, i)}, {}, {}, part);
  }
  node.Set(sum);
}

void Mean(NodeContext& node, const Adapter&) {
  const int count = node.num_inputs();
  NetworkValue sum = node.Value(0);
  if (count == 1) return node.Set(sum);
  for (int i = 1; i < count; ++i) {
    sum = node.Emit("add", {{sum, ""}, {node.Value(i), ""}}, {}, {}, "sum" + std::to_string(i));
  }
  node.Set(node.Emit("div", {{sum, ""}, {{}, std::to_string(count)}}));
}

NetworkValue CastTo(NodeContext& node, const NetworkValue& x, DType dtype,
                    const std::string& part) {
  if (node.TypeOf(x).dtype == dtype) return x;
  return node.Emit("cast", {{x, ""}}, {KeyOf("to", std::string(Name(dtype)))}, {}, part);
}

// The power has the type of the base. Integers are computed in f64.
void Pow(NodeContext& node, const Adapter& row) {
  const DType base = node.TypeOf(0).dtype;
  if (IsFloat(base) && node.TypeOf(1).dtype == base) return Binary(node, row);
  const std::optional<double> power = node.IsConstant(1) ? node.Number(1) : std::nullopt;
  const bool has_more_axes = node.ShapeOf(1).rank() > node.ShapeOf(0).rank();
  if (IsFloat(base) && power && !has_more_axes && !node.IsConstant(0)) {
    return node.Set(node.Emit("pow", {{node.Value(0), ""}, {{}, NumberText(*power)}}));
  }
  const DType computed = IsFloat(base) ? base : DType::kF64;
  const NetworkValue x = CastTo(node, node.Value(0), computed, "base");
  const NetworkValue y = CastTo(node, node.Value(1), computed, "power");
  const std::string part = computed == base ? "" : "result";
  node.Set(CastTo(node, node.Emit("pow", {{x, ""}, {y, ""}}, {}, {}, part), base, ""));
}

void CastLike(NodeContext& node, const Adapter&) {
  node.Ignore("saturate");
  node.Ignore("round_mode");
  node.Set(CastTo(node, node.Value(0), node.TypeOf(1).dtype, ""));
}

void Reciprocal(NodeContext& node, const Adapter&) {
  node.Set(node.Emit("div", {{{}, "1"}, {node.Value(0), ""}}));
}

void Where(NodeContext& node, const Adapter&) {
  node.Set(node.Emit("where", {{node.Value(0), ""}, {node.Value(1), ""}, {node.Value(2), ""}}));
}

void Identity(NodeContext& node, const Adapter&) { node.Set(0, node.Input(0)); }

// In inference nothing is dropped, nor with a ratio of 0. The mask, output 1, is true everywhere.
void Dropout(NodeContext& node, const Adapter&) {
  node.Ignore("ratio");
  node.Ignore("seed");
  const bool keeps_all = node.Has(1) && node.IsConstant(1) && node.Number(1) == 0.0;
  if (node.Has(2) && !keeps_all) {
    const std::optional<double> training = node.Number(2);
    if (!training || *training != 0) node.Fail("its input 'training_mode' must be false");
  }
  node.Set(0, node.Input(0));
  if (node.node().outputs.size() < 2) return;
  const NetworkValue ones =
      node.Emit("fill", {{node.Value(0), ""}}, {KeyOf("value", std::string("1"))}, {}, "ones");
  node.Set(1, {{}, CastTo(node, ones, DType::kBool, "mask")});
}

void Cast(NodeContext& node, const Adapter&) {
  node.Ignore("saturate");
  node.Ignore("round_mode");
  const auto type = static_cast<onnx::DataType>(node.Int("to", 0));
  const std::optional<DType> dtype = DTypeOfOnnx(type);
  if (!dtype) node.FailAttribute("to", "is " + onnx::NameOf(type) + ", which is not supported");
  node.Set(CastTo(node, node.Value(0), *dtype, ""));
}

constexpr int kAny = 1 << 20;
constexpr Adapter kElementwise[] = {
    {"Abs", FunctionOfOne, "abs"},
    {"Add", Binary, "add", 2},
    {"Cast", Cast},
    {"CastLike", CastLike, "", 2},
    {"Clip", OldClip},
    {"Clip", Clip, "", 3, 11},
    {"Div", Binary, "div", 2},
    {"Dropout", Dropout, "", 3},
    {"Equal", Compare, "equal", 2},
    {"Exp", FunctionOfOne, "exp"},
    {"Gelu", Gelu},
    {"Greater", Compare, "greater", 2},
    {"GreaterOrEqual", Compare, "greater_or_equal", 2},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", FunctionOfOne, "hard_swish"},
    {"Identity", Identity},
    {"LeakyRelu", LeakyRelu},
    {"Less", Compare, "less", 2},
    {"LessOrEqual", Compare, "less_or_equal", 2},
    {"Log", FunctionOfOne, "log"},
    {"Max", Variadic, "max", kAny},
    {"Mean", Mean, "", kAny},
    {"Min", Variadic, "min", kAny},
    {"Mul", Binary, "mul", 2},
    {"Neg", FunctionOfOne, "neg"},
    {"Pow", Pow, "pow", 2},
    {"Reciprocal", Reciprocal},
    {"Relu", FunctionOfOne, "relu"},
    {"Sigmoid", FunctionOfOne, "sigmoid"},
    {"Softplus", FunctionOfOne, "softplus"},
    {"Sqrt", FunctionOfOne, "sqrt"},
    {"Sub", Binary, "sub", 2},
    {"Sum", Variadic, "add", kAny},
    {"Tanh", FunctionOfOne, "tanh"},
    {"Where", Where, "", 3},
};

}  // namespace

std::span<const Adapter> ElementwiseAdapters() { return kElementwise; }

}  // namespace cgrun
