// Imports networks whose layers repeat: the model file has them once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using Doubles = std::vector<double>;

// A layer y = x + relu(x·A + a)·B + b of x [N, 4], with so many hidden units.
struct Residual {
  explicit Residual(int64_t units, size_t seed) : units(units) {
    const auto count = static_cast<size_t>(4 * units);
    Floats numbers = Numbers(2 * count + static_cast<size_t>(units) + 4 + seed);
    auto next = numbers.begin() + static_cast<std::ptrdiff_t>(seed);
    for (Floats* const part : {&up, &up_bias, &down, &down_bias}) {
      const size_t size = part == &up || part == &down ? count
                          : part == &up_bias           ? static_cast<size_t>(units)
                                                       : 4;
      part->assign(next, next + static_cast<std::ptrdiff_t>(size));
      next += static_cast<std::ptrdiff_t>(size);
    }
  }

  Doubles Of(const Doubles& x) const {
    Doubles y = x;
    for (size_t j = 0; j < 4; ++j) y[j] += static_cast<double>(down_bias[j]);
    const auto width = static_cast<size_t>(units);
    for (size_t u = 0; u < width; ++u) {
      double hidden = static_cast<double>(up_bias[u]);
      for (size_t i = 0; i < 4; ++i) hidden += x[i] * static_cast<double>(up[i * width + u]);
      hidden = std::max(hidden, 0.0);
      for (size_t j = 0; j < 4; ++j) y[j] += hidden * static_cast<double>(down[u * 4 + j]);
    }
    return y;
  }

  int64_t units;
  Floats up, up_bias, down, down_bias;
};

class BlocksTest : public testing::Test {
 protected:
  // Adds a layer whose nodes and weights have its name in front.
  void Add(const Residual& layer, const std::string& name, const std::string& x,
           const std::string& y) {
    const auto tensor = [&](const std::string& part, std::vector<int64_t> dims, Floats values) {
      graph_.initializers.push_back(
          FloatsOf(name + "." + part, std::move(dims), std::move(values)));
      return name + "." + part;
    };
    const auto node = [&](const std::string& op, std::vector<std::string> inputs,
                          const std::string& output) {
      graph_.nodes.push_back(NodeOf(op, std::move(inputs), output));
      graph_.nodes.back().name = name + "/" + op;
      return output;
    };
    const std::string up = node("Gemm",
                                {x, tensor("up.weight", {4, layer.units}, layer.up),
                                 tensor("up.bias", {layer.units}, layer.up_bias)},
                                name + "_up");
    const std::string relu = node("Relu", {up}, name + "_relu");
    const std::string down = node("Gemm",
                                  {relu, tensor("down.weight", {layer.units, 4}, layer.down),
                                   tensor("down.bias", {4}, layer.down_bias)},
                                  name + "_down");
    node("Add", {x, down}, y);
  }

  // Imports x [N, 4] → y [N, 4], and maybe more outputs.
  void Import(const std::vector<std::string>& also = {}) {
    graph_.inputs = {ValueOf("x", {0, 4})};
    graph_.outputs = {ValueOf("y", {0, 4})};
    for (const std::string& name : also) graph_.outputs.push_back(ValueOf(name, {0, 4}));
    const std::string path = folder_.path() + "/m.onnx";
    onnx::WriteModel(path, ModelOf(graph_));
    file_.emplace(path);
    imported_ = ImportOnnx(*file_, {});
  }

  std::string Text() const {
    const std::string text = ToYaml(imported_.tree);
    return text.substr(text.find("  x: {type"));
  }

  Doubles Run(const Doubles& x) {
    const Floats floats(x.begin(), x.end());
    const HostTensor y =
        Predict(imported_, *file_, {{"x", HostTensor::Of(Shape{1, 4}, floats)}}, 1).at(0);
    Doubles values;
    for (int64_t i = 0; i < 4; ++i) values.push_back(y.At(i));
    return values;
  }

  void ExpectNear(const Doubles& y, const Doubles& expected) {
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << i;
  }

  TempFolder folder_;
  onnx::Graph graph_;
  std::optional<onnx::OnnxFile> file_;
  ImportedModel imported_;
};

TEST_F(BlocksTest, LayersInARowAreARepeatedBlock) {
  Doubles y = {1, -0.5, 0.25, 2};
  const Doubles x = y;
  for (size_t i = 0; i < 4; ++i) {
    const Residual layer(8, i);
    const std::string name = "layers." + std::to_string(i);
    Add(layer, name, i == 0 ? "x" : "y" + std::to_string(i),
        i == 3 ? "y" : "y" + std::to_string(i + 1));
    y = layer.Of(y);
  }
  Import();
  EXPECT_EQ(Text(), R"(  x: {type: f32, shape: [4]}
blocks:
  layers:
    in: x
    ops:
      - up: {op: linear, in: x, units: 8}
      - {Relu: relu}
      - down: {op: linear, units: 4}
      - add: {op: add, in: [x, down]}
paths:
  predict:
    mode: forward
    ops:
      - y: {block: layers, in: x, repeat: 4}
    out: y
)");
  ASSERT_EQ(imported_.weights.size(), 16u);
  EXPECT_EQ(imported_.weights[5].name, "predict.y[1].up.bias");
  EXPECT_EQ(imported_.items, 16u);
  ExpectNear(Run(x), y);
}

TEST_F(BlocksTest, KeysThatDifferAreParameters) {
  Doubles y = {1, -0.5, 0.25, 2};
  const Doubles x = y;
  const std::vector<int64_t> units = {8, 8, 6};
  for (size_t i = 0; i < 3; ++i) {
    const Residual layer(units[i], i);
    const std::string at = std::to_string(i);
    Add(layer, "stage" + at, i == 0 ? "x" : "r" + at, "s" + at);
    graph_.nodes.push_back(
        NodeOf("Sigmoid", {"s" + at}, i == 2 ? "y" : "r" + std::to_string(i + 1)));
    y = layer.Of(y);
    for (double& value : y) value = 1 / (1 + std::exp(-value));
  }
  Import();
  EXPECT_NE(Text().find("    params: {units: null}"), std::string::npos) << Text();
  EXPECT_NE(Text().find("up: {op: linear, in: x, units: \"${units}\"}"), std::string::npos)
      << Text();
  EXPECT_NE(Text().find("with: {units: 8}\n          repeat: 2"), std::string::npos) << Text();
  EXPECT_NE(Text().find("with: {units: 6}\n"), std::string::npos) << Text();
  ExpectNear(Run(x), y);
}

// One is read by the next use, and one is an output.
TEST_F(BlocksTest, AUseMayHaveSeveralResults) {
  const auto add = [&](const std::string& a, const std::string& b, const std::string& at) {
    graph_.nodes.push_back(NodeOf("Sin", {a}, "s" + at));
    graph_.nodes.push_back(NodeOf("Mul", {"s" + at, b}, "m" + at));
    graph_.nodes.push_back(NodeOf("Cos", {"m" + at}, "c" + at));
    graph_.nodes.push_back(NodeOf("Add", {"c" + at, "s" + at}, "a" + at));
    graph_.nodes.push_back(NodeOf("Tanh", {"a" + at}, "t" + at));
  };
  add("x", "x", "0");
  add("t0", "t0", "1");
  add("t1", "t1", "2");
  graph_.nodes.push_back(NodeOf("Neg", {"t2"}, "y"));
  Import({"c1"});
  EXPECT_NE(Text().find("blocks:"), std::string::npos) << Text();
  Doubles expected;
  for (const double x : {1.0, -0.5, 0.25, 2.0}) {
    double t = x;
    for (int i = 0; i < 3; ++i) {
      const double s = std::sin(t);
      t = std::tanh(std::cos(s * t) + s);
    }
    expected.push_back(-t);
  }
  ExpectNear(Run({1, -0.5, 0.25, 2}), expected);
  EXPECT_NE(Text().find("out: [cos, tanh]"), std::string::npos) << Text();
}

TEST_F(BlocksTest, TwoShortLayersStayAsTheyAre) {
  graph_.nodes = {NodeOf("Sin", {"x"}, "a"), NodeOf("Relu", {"a"}, "b"), NodeOf("Sin", {"b"}, "c"),
                  NodeOf("Relu", {"c"}, "y")};
  Import();
  EXPECT_EQ(Text().find("blocks:"), std::string::npos) << Text();
}

// A value that all layers read, such as a mask, is an input of the block.
TEST_F(BlocksTest, AConstantThatAllLayersReadIsAnInput) {
  graph_.initializers = {FloatsOf("mask", {4}, {1, 0, -2, 0.5})};
  std::string x = "x";
  for (const std::string at : {"0", "1", "2", "3"}) {
    graph_.nodes.push_back(NodeOf("Mul", {x, "mask"}, "m" + at));
    graph_.nodes.push_back(NodeOf("Tanh", {"m" + at}, "t" + at));
    graph_.nodes.push_back(NodeOf("Sin", {"t" + at}, "s" + at));
    x = at == "3" ? "y" : "u" + at;
    graph_.nodes.push_back(NodeOf("Sub", {"s" + at, "m" + at}, x));
  }
  Import();
  EXPECT_NE(Text().find("in: [x, mask], repeat: 4}"), std::string::npos) << Text();
  Doubles expected;
  const Doubles mask = {1, 0, -2, 0.5};
  for (size_t i = 0; i < 4; ++i) {
    double value = Doubles{1, -0.5, 0.25, 2}[i];
    for (int n = 0; n < 4; ++n) value = std::sin(std::tanh(value * mask[i])) - value * mask[i];
    expected.push_back(value);
  }
  ExpectNear(Run({1, -0.5, 0.25, 2}), expected);
}

}  // namespace
}  // namespace cgrun
