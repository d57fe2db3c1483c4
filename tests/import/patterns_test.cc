// Imports operators that an exporter wrote as several, in the orders that exporters have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
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
using Names = std::vector<std::string>;

// Writes nodes that read x [N, 3, 4], and gives each result a name.
class NodeWriter {
 public:
  explicit NodeWriter(std::vector<int64_t> sizes = {0, 3, 4}) {
    graph.inputs = {ValueOf("x", sizes)};
    graph.outputs = {ValueOf("y", sizes)};
  }

  std::string Op(const std::string& op, const Names& inputs,
                 std::vector<onnx::Attribute> attributes = {}) {
    const std::string name = "v" + std::to_string(graph.nodes.size());
    graph.nodes.push_back(NodeOf(op, inputs, name, std::move(attributes)));
    return name;
  }
  std::string Number(float value) { return Constant({}, {value}); }
  std::string Constant(const std::vector<int64_t>& dims, const Floats& values) {
    const std::string name = "c" + std::to_string(graph.initializers.size());
    graph.initializers.push_back(FloatsOf(name, dims, values));
    return name;
  }
  std::string Mean(const std::string& x) {
    return Op("ReduceMean", {x}, {Ints("axes", {-1}), Int("keepdims", 1)});
  }
  std::string Reduced(const std::string& op, const std::string& x) {
    return Op(op, {x}, {Ints("axes", {2}), Int("keepdims", 1)});
  }

  onnx::Graph graph;
};

double Gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double GeluByTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double Silu(double x) { return x / (1 + std::exp(-x)); }
double HardSwish(double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }

class PatternsTest : public testing::Test {
 protected:
  // Names the last value y, and imports the graph.
  void Import(NodeWriter& write, int64_t opset = 11) {
    write.graph.nodes.back().outputs = {"y"};
    onnx::Model model = ModelOf(write.graph);
    model.opset_imports[0].version = opset;
    const std::string path = folder_.path() + "/m.onnx";
    file_.reset();
    onnx::WriteModel(path, model);
    file_.emplace(path);
    imported_ = ImportOnnx(*file_, {});
  }

  Names Ops() const {
    Names ops;
    const TreeNode& path = imported_.tree.Find("paths")->value.entries[0].value;
    for (const TreeNode& item : path.Find("ops")->value.items) {
      const TreeNode& described = item.entries[0].value;
      ops.push_back(described.IsScalar() ? described.scalar : described.Find("op")->value.scalar);
    }
    return ops;
  }

  // The outputs for two samples of a shape, beside those of `expected`, which gets rows of 4.
  void ExpectRows(const std::function<Doubles(const Doubles&)>& expected, Shape shape = {2, 3, 4}) {
    const auto count = static_cast<size_t>(shape.Elements());
    Floats numbers = Numbers(count);
    for (float& number : numbers) number *= 5;
    const HostTensor y =
        Predict(imported_, *file_, {{"x", HostTensor::Of(std::move(shape), numbers)}}, 2).at(0);
    double sum = 0;
    for (size_t row = 0; row < count; row += 4) {
      const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row);
      const Doubles wanted = expected(Doubles(first, first + 4));
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(y.At(static_cast<int64_t>(row + i)), wanted[i], 1e-5) << row + i;
        sum += std::abs(wanted[i]);
      }
    }
    EXPECT_GT(sum, 1);
  }
  void ExpectEach(double (*function)(double)) {
    ExpectRows([&](Doubles row) {
      for (double& x : row) x = function(x);
      return row;
    });
  }
  void ExpectOne(const std::string& op, double (*function)(double)) {
    EXPECT_EQ(Ops(), Names{op});
    EXPECT_EQ(imported_.recognised, Names{"1 × " + op});
    ExpectEach(function);
  }

  TempFolder folder_;
  std::optional<onnx::OnnxFile> file_;
  ImportedModel imported_;
};

TEST_F(PatternsTest, GeluByErfInThreeOrders) {
  for (int order = 0; order < 3; ++order) {
    NodeWriter write;
    const std::string inner = order == 0 ? write.Op("Div", {"x", write.Number(1.41421354f)})
                                         : write.Op("Mul", {"x", write.Number(0.70710677f)});
    const std::string erf = write.Op("Erf", {inner});
    const std::string gate = order == 1 ? write.Op("Add", {write.Number(1), erf})
                                        : write.Op("Add", {erf, write.Number(1)});
    if (order == 0) {
      write.Op("Mul", {write.Op("Mul", {"x", gate}), write.Number(0.5f)});
    } else if (order == 1) {
      write.Op("Mul", {write.Op("Mul", {write.Number(0.5f), "x"}), gate});
    } else {
      write.Op("Mul", {write.Op("Mul", {gate, write.Number(0.5f)}), "x"});
    }
    Import(write);
    ExpectOne("gelu", Gelu);
  }
}

TEST_F(PatternsTest, GeluByErfWithTheFactorInTheGate) {
  NodeWriter write;
  const std::string erf = write.Op("Erf", {write.Op("Mul", {"x", write.Number(0.70710677f)})});
  const std::string half = write.Op("Mul", {erf, write.Number(0.5f)});
  write.Op("Mul", {"x", write.Op("Add", {half, write.Number(0.5f)})});
  Import(write);
  ExpectOne("gelu", Gelu);
}

TEST_F(PatternsTest, GeluByTanh) {
  for (int order = 0; order < 2; ++order) {
    NodeWriter write;
    const std::string cube = order == 0 ? write.Op("Pow", {"x", write.Number(3)})
                                        : write.Op("Mul", {"x", write.Op("Mul", {"x", "x"})});
    const std::string cubic = write.Op("Mul", {write.Number(0.044715f), cube});
    const std::string sum = write.Op("Add", {"x", cubic});
    const std::string scaled = write.Op("Mul", {sum, write.Number(0.7978846f)});
    const std::string gate = write.Op("Add", {write.Op("Tanh", {scaled}), write.Number(1)});
    write.Op("Mul", {write.Op("Mul", {write.Number(0.5f), "x"}), gate});
    Import(write);
    ExpectOne("gelu", GeluByTanh);
  }
}

TEST_F(PatternsTest, GeluByTanhWithTheFactorTakenOut) {
  NodeWriter write;
  const std::string square =
      write.Op("Mul", {"x", write.Op("Mul", {"x", write.Number(0.044715f)})});
  const std::string inner = write.Op("Add", {square, write.Number(1)});
  const std::string scaled =
      write.Op("Mul", {write.Op("Mul", {"x", write.Number(0.7978846f)}), inner});
  const std::string gate = write.Op("Add", {write.Op("Tanh", {scaled}), write.Number(1)});
  write.Op("Mul", {write.Op("Mul", {"x", write.Number(0.5f)}), gate});
  Import(write);
  ExpectOne("gelu", GeluByTanh);
}

TEST_F(PatternsTest, AnotherFactorIsNoGelu) {
  NodeWriter write;
  const std::string erf = write.Op("Erf", {write.Op("Mul", {"x", write.Number(0.7f)})});
  const std::string gate = write.Op("Add", {erf, write.Number(1)});
  write.Op("Mul", {write.Op("Mul", {"x", gate}), write.Number(0.5f)});
  Import(write);
  EXPECT_EQ(Ops(), (Names{"mul", "erf", "add", "mul", "mul"}));
  EXPECT_TRUE(imported_.recognised.empty());
  ExpectEach([](double x) { return 0.5 * x * (1 + std::erf(0.7 * x)); });
}

TEST_F(PatternsTest, AValueThatIsAnOutputStays) {
  NodeWriter write;
  const std::string gate = write.Op("Sigmoid", {"x"});
  write.graph.outputs.push_back(ValueOf(gate, {0, 3, 4}));
  write.Op("Mul", {"x", gate});
  Import(write);
  EXPECT_EQ(Ops(), (Names{"sigmoid", "mul"}));
  ExpectEach(Silu);
}

TEST_F(PatternsTest, AValueThatAnotherNodeReadsStays) {
  NodeWriter write;
  const std::string gate = write.Op("Sigmoid", {"x"});
  const std::string product = write.Op("Mul", {"x", gate});
  write.Op("Sub", {product, gate});
  Import(write);
  EXPECT_EQ(Ops(), (Names{"sigmoid", "mul", "sub"}));
  ExpectEach([](double x) { return Silu(x) - 1 / (1 + std::exp(-x)); });
}

TEST_F(PatternsTest, Silu) {
  NodeWriter write;
  write.Op("Mul", {write.Op("Sigmoid", {"x"}), "x"});
  Import(write);
  ExpectOne("silu", Silu);
}

TEST_F(PatternsTest, SiluByExp) {
  NodeWriter write;
  const std::string e = write.Op("Exp", {write.Op("Neg", {"x"})});
  write.Op("Div", {"x", write.Op("Add", {write.Number(1), e})});
  Import(write);
  ExpectOne("silu", Silu);
}

TEST_F(PatternsTest, HardSwishByTheClipOfASum) {
  NodeWriter write;
  const std::string sum = write.Op("Add", {"x", write.Number(3)});
  const std::string gate = write.Op("Clip", {sum, write.Number(0), write.Number(6)});
  write.Op("Div", {write.Op("Mul", {"x", gate}), write.Number(6)});
  Import(write);
  ExpectOne("hard_swish", HardSwish);
}

TEST_F(PatternsTest, HardSwishByHardSigmoid) {
  NodeWriter write;
  onnx::Attribute alpha;
  alpha.name = "alpha";
  alpha.type = onnx::AttributeType::kFloat;
  alpha.f = 1.0f / 6;
  write.Op("Mul", {"x", write.Op("HardSigmoid", {"x"}, {alpha})});
  Import(write);
  ExpectOne("hard_swish", HardSwish);
}

Doubles SoftmaxOf(Doubles row) {
  double sum = 0;
  for (double& x : row) sum += x = std::exp(x);
  for (double& x : row) x /= sum;
  return row;
}

TEST_F(PatternsTest, Softmax) {
  for (const bool subtracts : {true, false}) {
    NodeWriter write;
    const std::string centred =
        subtracts ? write.Op("Sub", {"x", write.Reduced("ReduceMax", "x")}) : "x";
    const std::string e = write.Op("Exp", {centred});
    write.Op("Div", {e, write.Reduced("ReduceSum", e)});
    Import(write);
    EXPECT_EQ(Ops(), Names{"softmax"});
    ExpectRows(SoftmaxOf);
  }
}

TEST_F(PatternsTest, LogSoftmax) {
  NodeWriter write;
  const std::string centred = write.Op("Sub", {"x", write.Reduced("ReduceMax", "x")});
  const std::string sum = write.Reduced("ReduceSum", write.Op("Exp", {centred}));
  write.Op("Sub", {centred, write.Op("Log", {sum})});
  Import(write);
  EXPECT_EQ(Ops(), Names{"log_softmax"});
  ExpectRows([](const Doubles& row) {
    Doubles logs = SoftmaxOf(row);
    for (double& x : logs) x = std::log(x);
    return logs;
  });
}

constexpr float kScale[] = {1, -2, 0.5, 3}, kShift[] = {0.5, 0, -1, 2};

Doubles NormOf(Doubles row, double epsilon) {
  double mean = 0, variance = 0;
  for (const double x : row) mean += x / 4;
  for (const double x : row) variance += (x - mean) * (x - mean) / 4;
  for (double& x : row) x = (x - mean) / std::sqrt(variance + epsilon);
  return row;
}

Doubles AffineNormOf(const Doubles& row) {
  Doubles normal = NormOf(row, 1e-5);
  for (size_t i = 0; i < 4; ++i) {
    normal[i] = normal[i] * static_cast<double>(kScale[i]) + static_cast<double>(kShift[i]);
  }
  return normal;
}

// (x - mean) / √(mean of squares + epsilon).
std::string Normalised(NodeWriter& write, bool by_power, float epsilon) {
  const std::string centred = write.Op("Sub", {"x", write.Mean("x")});
  const std::string square =
      by_power ? write.Op("Pow", {centred, write.Number(2)}) : write.Op("Mul", {centred, centred});
  const std::string sum = write.Op("Add", {write.Mean(square), write.Number(epsilon)});
  return write.Op("Div", {centred, write.Op("Sqrt", {sum})});
}

TEST_F(PatternsTest, LayerNorm) {
  for (const bool by_power : {true, false}) {
    NodeWriter write;
    const std::string normal = Normalised(write, by_power, 1e-5f);
    const std::string scaled =
        write.Op("Mul", {normal, write.Constant({4}, Floats(kScale, kScale + 4))});
    write.Op("Add", {scaled, write.Constant({4}, Floats(kShift, kShift + 4))});
    Import(write);
    EXPECT_EQ(Ops(), Names{"layer_norm"});
    EXPECT_EQ(imported_.weights.size(), 2u);
    ExpectRows(AffineNormOf);
  }
}

TEST_F(PatternsTest, LayerNormWithoutScaleHasItsEpsilon) {
  NodeWriter write;
  Normalised(write, true, 0.25f);
  Import(write);
  EXPECT_EQ(Ops(), Names{"layer_norm"});
  EXPECT_TRUE(imported_.weights.empty());
  ExpectRows([](const Doubles& row) { return NormOf(row, 0.25); });
}

TEST_F(PatternsTest, LayerNormWithAScaleAlone) {
  NodeWriter write;
  write.Op("Mul",
           {write.Constant({4}, Floats(kScale, kScale + 4)), Normalised(write, true, 1e-5f)});
  std::swap(write.graph.nodes.back().inputs[0], write.graph.nodes.back().inputs[1]);
  Import(write);
  EXPECT_EQ(Ops(), Names{"layer_norm"});
  ExpectRows([](const Doubles& row) {
    Doubles normal = AffineNormOf(row);
    for (size_t i = 0; i < 4; ++i) normal[i] -= static_cast<double>(kShift[i]);
    return normal;
  });
}

// As TensorFlow writes it: x·i + (shift - mean·i), with i = scale / √(variance + epsilon).
TEST_F(PatternsTest, LayerNormAsASum) {
  NodeWriter write;
  const std::string mean = write.Mean("x");
  const std::string centred = write.Op("Sub", {"x", mean});
  const std::string variance = write.Mean(write.Op("Mul", {centred, centred}));
  const std::string sum = write.Op("Add", {variance, write.Number(1e-5f)});
  const std::string inverse = write.Op("Reciprocal", {write.Op("Sqrt", {sum})});
  const std::string factor =
      write.Op("Mul", {inverse, write.Constant({4}, Floats(kScale, kScale + 4))});
  const std::string moved = write.Op("Mul", {mean, factor});
  const std::string rest =
      write.Op("Sub", {write.Constant({4}, Floats(kShift, kShift + 4)), moved});
  write.Op("Add", {write.Op("Mul", {"x", factor}), rest});
  Import(write);
  EXPECT_EQ(Ops(), Names{"layer_norm"});
  ExpectRows(AffineNormOf);
}

// Two nodes that compute the same mean are one.
TEST_F(PatternsTest, LayerNormWithTheMeanTwice) {
  NodeWriter write;
  const std::string first = write.Op("Sub", {"x", write.Mean("x")});
  const std::string second = write.Op("Sub", {"x", write.Mean("x")});
  const std::string variance = write.Mean(write.Op("Mul", {first, first}));
  const std::string sum = write.Op("Add", {variance, write.Number(1e-5f)});
  write.Op("Div", {second, write.Op("Sqrt", {sum})});
  Import(write);
  EXPECT_EQ(Ops(), Names{"layer_norm"});
  ExpectRows([](const Doubles& row) { return NormOf(row, 1e-5); });
}

TEST_F(PatternsTest, AMeanOverOtherAxesIsNoLayerNorm) {
  NodeWriter write;
  Normalised(write, true, 1e-5f);
  for (onnx::Node& node : write.graph.nodes) {
    if (node.op_type == "ReduceMean") node.attributes[0].ints = {1};
  }
  Import(write);
  EXPECT_EQ(std::ranges::count(Ops(), "layer_norm"), 0);
}

// x [N, 4]: (x - mean) / deviation · scale + shift, a number for each channel.
TEST_F(PatternsTest, BatchNorm) {
  NodeWriter write({0, 4});
  const std::string centred = write.Op("Sub", {"x", write.Constant({4}, {1, 2, -1, 0})});
  const std::string normal = write.Op("Div", {centred, write.Constant({1, 4}, {2, 1, 4, 0.5})});
  const std::string scaled =
      write.Op("Mul", {normal, write.Constant({4}, Floats(kScale, kScale + 4))});
  write.Op("Add", {scaled, write.Constant({4}, Floats(kShift, kShift + 4))});
  Import(write);
  EXPECT_EQ(Ops(), Names{"batch_norm"});
  const auto expected = [](const Doubles& row) {
    const double means[] = {1, 2, -1, 0}, deviations[] = {2, 1, 4, 0.5};
    Doubles y;
    for (size_t i = 0; i < 4; ++i) {
      y.push_back((row[i] - means[i]) / deviations[i] * static_cast<double>(kScale[i]) +
                  static_cast<double>(kShift[i]));
    }
    return y;
  };
  ExpectRows(expected, {2, 4});
}

}  // namespace
}  // namespace cgrun
