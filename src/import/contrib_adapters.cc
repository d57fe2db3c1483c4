// Operators of com.microsoft, which optimised files have in the place of ONNX's own.
#include <string>
#include <utility>
#include <vector>

#include "src/import/adapters.h"

namespace cgrun {
namespace {

Network::Input ValueInput(const NetworkValue& value) { return {value, ""}; }
Network::Input RealInput(float number) { return {{}, NumberText(number)}; }

// Adds the activation of a fused layer as an operator behind it.
NetworkValue Activated(NodeContext& node, const NetworkValue& x, const std::string& name,
                       const std::vector<float>& parameters) {
  const auto parameter = [&](size_t i, float fallback) {
    return i < parameters.size() ? parameters[i] : fallback;
  };
  if (name == "Relu") return node.Emit("relu", {ValueInput(x)});
  if (name == "Sigmoid") return node.Emit("sigmoid", {ValueInput(x)});
  if (name == "Tanh") return node.Emit("tanh", {ValueInput(x)});
  if (name == "LeakyRelu") {
    return node.Emit("leaky_relu", {ValueInput(x)},
                     {KeyOf("slope", NumberText(parameter(0, 0.01f)))});
  }
  if (name == "HardSigmoid") {
    const NetworkValue scaled =
        node.Emit("mul", {ValueInput(x), RealInput(parameter(0, 0.2f))}, {}, {}, "scaled");
    const NetworkValue shifted =
        node.Emit("add", {ValueInput(scaled), RealInput(parameter(1, 0.5f))}, {}, {}, "shifted");
    return node.Emit("clip", {ValueInput(shifted)},
                     {KeyOf("min", std::string("0")), KeyOf("max", std::string("1"))});
  }
  if (name == "Clip") {
    return node.Emit("clip", {ValueInput(x)},
                     {KeyOf("min", NumberText(parameter(0, -3.4028235e38f))),
                      KeyOf("max", NumberText(parameter(1, 3.4028235e38f)))});
  }
  node.FailAttribute("activation", "is '" + name + "', which is not supported");
}

// A convolution, a sum where there is a fourth input, and an activation.
void FusedConv(NodeContext& node, const Adapter& row) {
  const std::string activation = node.Text("activation", "");
  NetworkValue y = ConvResult(node, row, activation.empty() && !node.Has(3) ? "" : "conv");
  if (node.Has(3)) {
    y = node.Emit("add", {ValueInput(y), ValueInput(node.Value(3))}, {}, {},
                  activation.empty() ? "" : "sum");
  }
  if (!activation.empty()) y = Activated(node, y, activation, node.Reals("activation_params"));
  node.Set(y);
}

void FusedGemm(NodeContext& node, const Adapter&) {
  const std::string activation = node.Text("activation", "");
  const float alpha = node.Real("activation_alpha", 0.01f);
  node.Ignore("activation_beta");
  node.Ignore("activation_gamma");
  if (activation.empty()) return node.Set(GemmResult(node, ""));
  if (activation != "Relu" && activation != "LeakyRelu" && activation != "Sigmoid" &&
      activation != "Tanh") {
    node.FailAttribute("activation", "is '" + activation + "', which is not supported");
  }
  node.Set(Activated(node, GemmResult(node, "product"), activation, {alpha}));
}

void FusedMatMul(NodeContext& node, const Adapter&) {
  node.Only("transBatchA", 0);
  node.Only("transBatchB", 0);
  const float alpha = node.Real("alpha", 1);
  std::vector<TreeEntry> keys;
  if (node.Int("transA", 0) != 0) keys.push_back(KeyOf("transpose_a", true));
  if (node.Int("transB", 0) != 0) keys.push_back(KeyOf("transpose_b", true));
  NetworkValue y = node.Emit("matmul", {ValueInput(node.Value(0)), ValueInput(node.Value(1))},
                             std::move(keys), {}, alpha != 1 ? "product" : "");
  if (alpha != 1) y = node.Emit("mul", {ValueInput(y), RealInput(alpha)});
  node.Set(y);
}

// Gelu, BiasGelu and FastGelu, the last by tanh; a bias is added before.
void BiasedGelu(NodeContext& node, const Adapter& row) {
  NetworkValue x = node.Value(0);
  if (node.Has(1)) {
    x = node.Emit("add", {ValueInput(x), ValueInput(node.Value(1))}, {}, {}, "biased");
  }
  std::vector<TreeEntry> keys;
  if (row.op_type == "FastGelu") keys.push_back(KeyOf("approximate", std::string("tanh")));
  node.Set(node.Emit("gelu", {ValueInput(x)}, std::move(keys)));
}

// x·sigmoid(alpha·x)
void QuickGelu(NodeContext& node, const Adapter&) {
  const float alpha = node.Real("alpha", 1.702f);
  const NetworkValue& x = node.Value(0);
  const NetworkValue scaled = node.Emit("mul", {ValueInput(x), RealInput(alpha)}, {}, {}, "scaled");
  const NetworkValue gate = node.Emit("sigmoid", {ValueInput(scaled)}, {}, {}, "gate");
  node.Set(node.Emit("mul", {ValueInput(x), ValueInput(gate)}));
}

// Divides x by the root of the mean of its squares along the last axes, and multiplies by a scale.
NetworkValue Simplified(NodeContext& node, const NetworkValue& x, int64_t axis, float epsilon,
                        const NetworkValue& scale) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < node.TypeOf(x).shape.rank(); ++i) axes.push_back(i);
  const NetworkValue squares = node.Emit("mul", {ValueInput(x), ValueInput(x)}, {}, {}, "squares");
  const NetworkValue mean =
      node.Emit("reduce_mean", {ValueInput(squares)},
                {KeyOfList("axes", axes), KeyOf("keep_dims", true)}, {}, "mean");
  const NetworkValue shifted =
      node.Emit("add", {ValueInput(mean), RealInput(epsilon)}, {}, {}, "shifted");
  const NetworkValue root = node.Emit("sqrt", {ValueInput(shifted)}, {}, {}, "root");
  const NetworkValue unit = node.Emit("div", {ValueInput(x), ValueInput(root)}, {}, {}, "unit");
  return node.Emit("mul", {ValueInput(unit), ValueInput(scale)});
}

void SimplifiedLayerNormalization(NodeContext& node, const Adapter&) {
  node.Only("stash_type", 1);
  const int64_t axis = node.Axis(node.Int("axis", -1), node.ShapeOf(0).rank());
  node.RefuseBatch(0, axis, "normalises along");
  node.Set(Simplified(node, node.Value(0), axis, node.Real("epsilon", 1e-5f), node.Value(1)));
}

// Normalises x + skip + bias along the last axis. Output 3 is that sum.
void SkipLayerNormalization(NodeContext& node, const Adapter& row) {
  const bool is_simplified = row.op_type == "SkipSimplifiedLayerNormalization";
  const int bias_input = is_simplified ? 3 : 4;
  const float epsilon = node.Real("epsilon", 1e-12f);
  NetworkValue sum =
      node.Emit("add", {ValueInput(node.Value(0)), ValueInput(node.Value(1))}, {}, {}, "sum");
  if (node.Has(bias_input)) {
    sum = node.Emit("add", {ValueInput(sum), ValueInput(node.Value(bias_input))}, {}, {}, "biased");
  }
  const int64_t axis = node.TypeOf(sum).shape.rank() - 1;
  if (node.node().outputs.size() > 3) node.Set(3, {{}, sum});
  if (is_simplified) return node.Set(Simplified(node, sum, axis, epsilon, node.Value(2)));
  NetworkValue y = node.Emit(
      "layer_norm", {ValueInput(sum)},
      {KeyOf("axis", axis), KeyOf("epsilon", NumberText(epsilon)), KeyOf("affine", false)}, {},
      "unit");
  const bool shifts = node.Has(3);
  y = node.Emit("mul", {ValueInput(y), ValueInput(node.Value(2))}, {}, {}, shifts ? "scaled" : "");
  if (shifts) y = node.Emit("add", {ValueInput(y), ValueInput(node.Value(3))});
  node.Set(y);
}

constexpr Adapter kContrib[] = {
    {"BiasGelu", BiasedGelu, "", 2},
    {"FastGelu", BiasedGelu, "", 2},
    {"FusedConv", FusedConv, "conv", 4},
    {"FusedGemm", FusedGemm, "", 3},
    {"FusedMatMul", FusedMatMul, "", 2},
    {"Gelu", BiasedGelu},
    {"QuickGelu", QuickGelu},
    {"SimplifiedLayerNormalization", SimplifiedLayerNormalization, "", 2},
    {"SkipLayerNormalization", SkipLayerNormalization, "", 5},
    {"SkipSimplifiedLayerNormalization", SkipLayerNormalization, "", 4},
};

}  // namespace

std::span<const Adapter> ContribAdapters() { return kContrib; }

}  // namespace cgrun
