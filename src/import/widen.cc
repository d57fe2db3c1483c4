// Chooses the wider type, and casts.
#include "src/import/widen.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "src/base/for_type.h"
#include "src/kernels/wide_cast.h"

namespace cgrun {
namespace {

// These operators move elements as they are, or handle types themselves.
constexpr std::array<std::string_view, 38> kTakesAnyType = {"BitCast",
                                                            "BitShift",
                                                            "Cast",
                                                            "CastLike",
                                                            "Concat",
                                                            "ConvInteger",
                                                            "DepthToSpace",
                                                            "DequantizeLinear",
                                                            "DynamicQuantizeLinear",
                                                            "DynamicQuantizeMatMul",
                                                            "Expand",
                                                            "Flatten",
                                                            "Gather",
                                                            "GatherElements",
                                                            "GatherND",
                                                            "Identity",
                                                            "MatMulInteger",
                                                            "MatMulIntegerToFloat",
                                                            "QGemm",
                                                            "QLinearAdd",
                                                            "QLinearAveragePool",
                                                            "QLinearConcat",
                                                            "QLinearConv",
                                                            "QLinearGlobalAveragePool",
                                                            "QLinearLeakyRelu",
                                                            "QLinearMatMul",
                                                            "QLinearMul",
                                                            "QLinearSigmoid",
                                                            "QuantizeLinear",
                                                            "Reshape",
                                                            "Slice",
                                                            "SpaceToDepth",
                                                            "Split",
                                                            "Squeeze",
                                                            "Tile",
                                                            "Transpose",
                                                            "Unsqueeze",
                                                            "Where"};

// Says what is special about an operator.
struct TypeRule {
  std::string_view op_type;
  int typed_by = -1;        // the input whose type results have; -1: the first one to be widened
  uint32_t narrowed = ~0u;  // a bit for each output that has that type
  bool compares = false;    // it asks for the order of numbers, and computes none
  bool takes_no_bytes = false;  // integers of 8 and 16 bits are computed in f32, which holds them
  bool in_f64 = false;          // integers are computed in f64 anyway
};

constexpr TypeRule kRules[] = {
    {"ArgMax", 0, 0, true},
    {"ArgMin", 0, 0, true},
    {"Clip", 0, ~0u, true},
    {"Equal", 0, 0},
    {"GlobalMaxPool", 0, ~0u, false, true},
    {"Greater", 0, 0, true},
    {"GreaterOrEqual", 0, 0, true},
    {"IsInf", 0, 0},
    {"IsNaN", 0, 0},
    {"LayerNormalization", 0, 1},
    {"Less", 0, 0, true},
    {"LessOrEqual", 0, 0, true},
    {"Max", 0, ~0u, true},
    {"MaxPool", 0, 1, false, true},
    {"Min", 0, ~0u, true},
    {"OneHot", 2},
    {"Pow", 0, ~0u, false, false, true},
    {"RMSNormalization", 0, 1},
    {"ReduceMax", 0, ~0u, true},
    {"ReduceMin", 0, ~0u, true},
    {"Relu", 0, ~0u, false, true},
    {"Resize", 0, ~0u, false, true},
    {"SkipLayerNormalization", 0, 1 | 8},
    {"SkipSimplifiedLayerNormalization", 0, 1 | 8},
    {"TopK", 0, 1, true},
};

TypeRule RuleOf(std::string_view op_type) {
  const auto* const rule = std::ranges::find(kRules, op_type, &TypeRule::op_type);
  return rule == std::end(kRules) ? TypeRule{op_type} : *rule;
}

bool IsSmallInteger(DType dtype) { return !IsFloat(dtype) && SizeOf(dtype) <= 2; }

// The type in which a number is computed; nothing where that is its own.
std::optional<DType> WideOf(DType dtype, const TypeRule& rule) {
  if (dtype == DType::kF16 || dtype == DType::kBF16) return DType::kF32;
  if (dtype == DType::kBool) return std::nullopt;
  if (rule.takes_no_bytes && IsSmallInteger(dtype)) return DType::kF32;
  if (!IsStorageType(dtype)) return std::nullopt;
  if (rule.in_f64) return DType::kF64;
  return IsSmallInteger(dtype) ? DType::kI32 : DType::kI64;
}

// Large numbers of uint64 are negative as int64. Operators that do more with them than sums and
// products, or than to compare them, would go wrong.
bool IsModular(std::string_view op_type) {
  constexpr std::array<std::string_view, 14> kModular = {
      "Add",   "CumSum",          "Einsum",          "Equal", "Mul",
      "Neg",   "ReduceSum",       "ReduceProd",      "Sub",   "Sum",
      "Trilu", "ReduceSumSquare", "ScatterElements", "Pad"};
  return std::ranges::find(kModular, op_type) != kModular.end();
}

// Adding the least int64 exchanges the halves of the numbers: uint64 in its order becomes int64 in
// its order, and back.
NetworkValue HalvesExchanged(ImportState& state, const NetworkValue& value) {
  return state.network.Add({value.name + "_ordered", "add", {}, {}, {}},
                           {{value, ""}, {{}, "-9223372036854775808"}});
}

Constant HalvesExchanged(const Constant& constant, onnx::OnnxFile& file) {
  HostTensor tensor = *HostOf(constant, file);
  for (int64_t& number : tensor.data<int64_t>()) {
    number = static_cast<int64_t>(static_cast<uint64_t>(number) ^ uint64_t{1} << 63);
  }
  Constant exchanged = ConstantOf(std::move(tensor));
  exchanged.name = constant.name;
  return exchanged;
}

// An input in its wider type. Constants are converted here, so that they stay constants.
ImportedValue WidenedInput(NodeContext& node, int i, DType wide, bool exchanges) {
  ImportState& state = node.state();
  const ImportedValue& input = node.Input(i);
  if (!input.constant) {
    NetworkValue value = CastValue(state, input.value, wide);
    if (exchanges) value = HalvesExchanged(state, value);
    return {{}, std::move(value), true};
  }
  const Constant& constant = *input.constant;
  const ImportState::WideConstants::key_type key{constant.tensor, constant.dims, wide, exchanges};
  const auto known = state.wide_constants.find(key);
  if (known != state.wide_constants.end()) return {known->second.second, {}, true};
  Constant converted = ConvertedConstant(constant, wide, state.file);
  if (exchanges) converted = HalvesExchanged(converted, state.file);
  state.wide_constants.emplace(key, std::pair(constant, converted));
  return {std::move(converted), {}, true};
}

// Returns whether the input is a size or an index: those are not widened.
bool IsWidened(const NodeContext& node, int i) {
  return node.Has(i) && !(node.IsConstant(i) && node.ConstantInput(i).folded);
}

[[noreturn]] void FailLarge(const NodeContext& node) {
  node.Fail("computes with uint64, whose large numbers it would take for negative ones",
            "cast its inputs to int64 where they are below 2⁶³");
}

// The inputs that the adapter is to see, and what becomes of its results.
std::optional<Widening> WideningOf(NodeContext& node, const TypeRule& rule) {
  Widening widening;
  bool is_needed = false;
  for (int i = 0; i < static_cast<int>(node.node().inputs.size()); ++i) {
    widening.inputs.emplace_back();
    if (!IsWidened(node, i)) continue;
    const DType dtype = node.TypeOf(i).dtype;
    const std::optional<DType> wide = WideOf(dtype, rule);
    if (!wide) continue;
    is_needed = true;
    const bool is_u64 = dtype == DType::kU64;
    const bool is_exact = rule.compares || rule.in_f64 || IsModular(rule.op_type);
    if (is_u64 && !is_exact) FailLarge(node);
    const bool exchanges = is_u64 && rule.compares;
    widening.inputs.back() = WidenedInput(node, i, *wide, exchanges);
    const bool is_typed_by = rule.typed_by < 0 ? widening.narrowed == 0 : rule.typed_by == i;
    if (is_typed_by) {
      widening.narrow = dtype;
      widening.wide = *wide;
      widening.exchanges = exchanges;
      widening.narrowed = rule.narrowed;
    }
  }
  return is_needed ? std::optional(std::move(widening)) : std::nullopt;
}

// Floats of 16 bits are moved as f32. So operators that read inputs of a model are casts alone.
bool TakesAnyType(const NodeContext& node) {
  const std::string& op_type = node.node().op_type;
  if (std::ranges::find(kTakesAnyType, op_type) == kTakesAnyType.end()) return false;
  if (op_type.starts_with("Cast") || op_type.starts_with("QLinear") ||
      op_type.find("Quantize") != op_type.npos) {
    return true;
  }
  for (int i = 0; i < static_cast<int>(node.node().inputs.size()); ++i) {
    if (!IsWidened(node, i)) continue;
    const DType dtype = node.TypeOf(i).dtype;
    if (dtype == DType::kF16 || dtype == DType::kBF16) return false;
  }
  return true;
}

template <class From, class To>
void ConvertElements(const HostTensor& from, HostTensor& to) {
  const auto* const source = reinterpret_cast<const From*>(from.bytes().data());
  auto* const target = reinterpret_cast<To*>(to.bytes().data());
  for (int64_t i = 0; i < from.elements(); ++i) {
    target[i] = kernels::Narrow<To>(kernels::Widen(source[i]));
  }
}

}  // namespace

Constant ConvertedConstant(const Constant& constant, DType dtype, onnx::OnnxFile& file) {
  const HostTensor from = *HostOf(constant, file);
  HostTensor to(dtype, from.shape());
  ForAnyType<BFloat16>(from.dtype(), [&]<class From>(From*) {
    ForAnyType<BFloat16>(dtype, [&]<class To>(To*) { ConvertElements<From, To>(from, to); });
  });
  Constant converted = ConstantOf(std::move(to));
  converted.name = constant.name;
  return converted;
}

NetworkValue CastValue(ImportState& state, const NetworkValue& value, DType dtype) {
  if (state.network.TypeOf(value).dtype == dtype) return value;
  const auto known = state.casts.find({value.id, dtype});
  if (known != state.casts.end()) return known->second;
  const std::string name(Name(dtype));
  const NetworkValue cast = state.network.Add(
      {value.name + "_" + name, "cast", {}, {KeyOf("to", name)}, {}}, {{value, ""}});
  return state.casts[{value.id, dtype}] = cast;
}

void NodeContext::Narrow(int output, ImportedValue* operand) {
  if (!widening_ || (widening_->narrowed >> std::min(output, 31) & 1) == 0) return;
  const Widening widening = *widening_;
  if (operand->constant) {
    if (operand->constant->folded || DTypeOfOnnx(operand->constant->type) != widening.wide) return;
    Constant constant = *operand->constant;
    if (widening.exchanges) constant = HalvesExchanged(constant, state_.file);
    operand->constant = ConvertedConstant(constant, widening.narrow, state_.file);
    return;
  }
  if (TypeOf(operand->value).dtype != widening.wide) return;
  NetworkValue value = operand->value;
  if (widening.exchanges) value = HalvesExchanged(state_, value);
  widening_.reset();  // for the name
  operand->value = Emit("cast", {{value, ""}}, {KeyOf("to", std::string(Name(widening.narrow)))},
                        {}, output == 0 ? "" : std::to_string(output));
  widening_ = widening;
}

void RunAdapter(NodeContext& node, const Adapter& row) {
  if (DividesUnsigned(node)) return;
  if (!TakesAnyType(node)) {
    node.Widen(WideningOf(node, RuleOf(node.node().op_type)));
  }
  row.import(node, row);
}

}  // namespace cgrun
