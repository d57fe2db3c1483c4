// Functions of one number, logic, remainders, and activations that are made of other operators.
#include <limits>
#include <string>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
void FunctionOfOne(NodeContext& node, const Adapter& row) {
  ItemWriter(node).Finish(std::string(row.op), {node.Value(0)});
}

namespace {

void FunctionOfTwo(NodeContext& node, const Adapter& row) {
  ItemWriter(node).Finish(std::string(row.op), {node.Value(0), node.Value(1)});
}

void ImportMod(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys;
  if (node.Int("fmod", 0) != 0) keys.push_back(KeyOf("truncate", true));
  ItemWriter(node).Finish("mod", {node.Value(0), node.Value(1)}, std::move(keys));
}

// A NaN differs from itself.
void IsNaN(NodeContext& node, const Adapter&) {
  const NetworkValue x = node.Value(0);
  ItemWriter(node).Finish("compare", {x, x}, {KeyOf("is", std::string("not_equal"))});
}

// Infinities alone lie beyond the largest number of the type.
void IsInf(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const bool positive = node.Int("detect_positive", 1) != 0;
  const bool negative = node.Int("detect_negative", 1) != 0;
  NetworkValue x = node.Value(0);
  const double largest = node.TypeOf(x).dtype == DType::kF64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  if (positive && negative) x = write.Part("abs", {x});
  if (!positive && negative) x = write.Part("neg", {x});
  if (!positive && !negative) {
    return write.Finish("compare", {x, x}, {KeyOf("is", std::string("less"))});  // never
  }
  write.Finish("compare", {x, largest}, {KeyOf("is", std::string("greater"))});
}

ItemWriter::Keys AlphaKey(float alpha) {
  if (alpha == 1) return {};
  return {KeyOf("alpha", NumberText(alpha))};
}

void Elu(NodeContext& node, const Adapter&) {
  ItemWriter(node).Finish("elu", {node.Value(0)}, AlphaKey(node.Real("alpha", 1)));
}

// The defaults are those of ONNX, in f32.
void Selu(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const float alpha = node.Real("alpha", 1.67326319217681884765625f);
  const float gamma = node.Real("gamma", 1.05070102214813232421875f);
  write.Finish("mul", {write.Part("elu", {node.Value(0)}, AlphaKey(alpha)), gamma});
}

// max(0, x) + min(0, alpha·(e^(x/alpha) − 1)), which is alpha·elu(x/alpha).
void Celu(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const float alpha = node.Real("alpha", 1);
  if (alpha == 1) return write.Finish("elu", {node.Value(0)});
  if (!(alpha > 0)) node.FailAttribute("alpha", "must be above 0");
  const NetworkValue scaled = write.Part("div", {node.Value(0), alpha});
  write.Finish("mul", {write.Part("elu", {scaled}), alpha});
}

NetworkValue Compared(ItemWriter& write, const NetworkValue& x, const std::string& is,
                      float bound) {
  return write.Part("compare", {x, bound}, {KeyOf("is", is)});
}

void ThresholdedRelu(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  write.Finish("where", {Compared(write, x, "greater", node.Real("alpha", 1)), x, 0.0f});
}

void PRelu(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const NetworkValue scaled = write.Part("mul", {x, node.Value(1)});
  write.Finish("where", {Compared(write, x, "less", 0), scaled, x});
}

void Mish(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  write.Finish("mul", {x, write.Part("tanh", {write.Part("softplus", {x})})});
}

void Softsign(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  write.Finish("div", {x, write.Part("add", {write.Part("abs", {x}), 1.0f})});
}

void Swish(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const float alpha = node.Real("alpha", 1);
  if (alpha == 1) return write.Finish("silu", {x});
  write.Finish("mul", {x, write.Part("sigmoid", {write.Part("mul", {x, alpha})})});
}

// Elements beyond `lambd` move towards 0 by `bias`, and all others are 0.
void Shrink(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const float lambd = node.Real("lambd", 0.5f), bias = node.Real("bias", 0);
  const NetworkValue above = Compared(write, x, "greater", lambd);
  const NetworkValue below = Compared(write, x, "less", -lambd);
  const NetworkValue positive = write.Part("where", {above, write.Part("sub", {x, bias}), 0.0f});
  write.Finish("where", {below, write.Part("add", {x, bias}), positive});
}

constexpr Adapter kMath[] = {
    {"Acos", FunctionOfOne, "acos"},
    {"Acosh", FunctionOfOne, "acosh"},
    {"And", FunctionOfTwo, "logical_and", 2},
    {"Asin", FunctionOfOne, "asin"},
    {"Asinh", FunctionOfOne, "asinh"},
    {"Atan", FunctionOfOne, "atan"},
    {"Atanh", FunctionOfOne, "atanh"},
    {"Ceil", FunctionOfOne, "ceil"},
    {"Celu", Celu},
    {"Cos", FunctionOfOne, "cos"},
    {"Cosh", FunctionOfOne, "cosh"},
    {"Elu", Elu},
    {"Erf", FunctionOfOne, "erf"},
    {"Floor", FunctionOfOne, "floor"},
    {"IsInf", IsInf},
    {"IsNaN", IsNaN},
    {"Mish", Mish},
    {"Mod", ImportMod, "", 2},
    {"Not", FunctionOfOne, "logical_not"},
    {"Or", FunctionOfTwo, "logical_or", 2},
    {"PRelu", PRelu, "", 2},
    {"Round", FunctionOfOne, "round"},
    {"Selu", Selu},
    {"Shrink", Shrink},
    {"Sign", FunctionOfOne, "sign"},
    {"Sin", FunctionOfOne, "sin"},
    {"Sinh", FunctionOfOne, "sinh"},
    {"Softsign", Softsign},
    {"Swish", Swish},
    {"Tan", FunctionOfOne, "tan"},
    {"ThresholdedRelu", ThresholdedRelu},
    {"Xor", FunctionOfTwo, "logical_xor", 2},
};

}  // namespace

std::span<const Adapter> MathAdapters() { return kMath; }

}  // namespace cgrun
