// Models of number types in which cgrun does not compute, and quantised models.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/float16.h"
#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using onnx::DataType;
using Feeds = std::map<std::string, HostTensor>;

onnx::ValueInfo Typed(const std::string& name, const std::vector<int64_t>& sizes, DataType type) {
  onnx::ValueInfo value = ValueOf(name, sizes);
  value.type->tensor_type->elem_type = type;
  return value;
}

// A constant of any type. Its numbers are exact in it.
onnx::Tensor Constants(const std::string& name, std::vector<int64_t> dims, DataType type,
                       const std::vector<double>& numbers) {
  HostTensor host(*DTypeOfOnnx(type), Shape::Of(dims));
  for (size_t i = 0; i < numbers.size(); ++i) host.Set(static_cast<int64_t>(i), numbers[i]);
  onnx::Tensor tensor;
  tensor.name = name;
  tensor.dims = std::move(dims);
  tensor.data_type = type;
  // Integers of fewer than 64 bits, and halves, lie in a field of int32.
  for (int64_t i = 0; i < host.elements(); ++i) {
    int32_t bits = 0;
    const auto size = static_cast<size_t>(SizeOf(host.dtype()));
    std::memcpy(&bits, host.bytes().data() + static_cast<size_t>(i) * size, size);
    if (!IsFloat(host.dtype())) bits = static_cast<int32_t>(host.At(i));
    tensor.int32_data.values.push_back(bits);
  }
  return tensor;
}

HostTensor TensorOf(DType dtype, Shape shape, const std::vector<double>& numbers) {
  HostTensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < numbers.size(); ++i) tensor.Set(static_cast<int64_t>(i), numbers[i]);
  return tensor;
}

struct Imported {
  std::string yaml;
  std::vector<HostTensor> outputs;
};

Imported RunModel(onnx::Graph graph, const Feeds& feeds, int64_t batch, int64_t opset = 21) {
  const TempFolder folder;
  const std::string path = folder.path() + "/m.onnx";
  onnx::Model model = ModelOf(std::move(graph));
  model.opset_imports[0].version = opset;
  onnx::OperatorSet contrib;
  contrib.domain = "com.microsoft";
  contrib.version = 1;
  model.opset_imports.push_back(contrib);
  onnx::WriteModel(path, model);
  onnx::OnnxFile file(path);
  const ImportedModel imported = ImportOnnx(file, {});
  return {ToYaml(imported.tree), Predict(imported, file, feeds, batch)};
}

// Runs one operator on two inputs [N, count] of a type.
HostTensor Binary(const std::string& op_type, DataType type, const HostTensor& a,
                  const HostTensor& b, DataType result) {
  onnx::Graph graph;
  const int64_t count = a.shape()[1].size;
  graph.inputs = {Typed("a", {0, count}, type), Typed("b", {0, count}, type)};
  graph.outputs = {Typed("y", {0, count}, result)};
  graph.nodes = {NodeOf(op_type, {"a", "b"}, "y")};
  return RunModel(std::move(graph), {{"a", a}, {"b", b}}, a.shape()[0].size).outputs.at(0);
}

TEST(TypesTest, SmallIntegersWrapAround) {
  const auto bytes = [](std::vector<double> numbers) {
    return TensorOf(DType::kI8, Shape{1, 3}, numbers);
  };
  EXPECT_EQ(
      Binary("Add", DataType::kInt8, bytes({100, -100, 3}), bytes({100, -100, 4}), DataType::kInt8),
      bytes({-56, 56, 7}));
  EXPECT_EQ(Binary("Mul", DataType::kUint16, TensorOf(DType::kU16, Shape{1, 1}, {300}),
                   TensorOf(DType::kU16, Shape{1, 1}, {300}), DataType::kUint16),
            TensorOf(DType::kU16, Shape{1, 1}, {90000 - 65536}));
  EXPECT_EQ(
      Binary("Div", DataType::kInt8, bytes({-128, -7, 7}), bytes({-1, 2, 2}), DataType::kInt8),
      bytes({-128, -3, 3}));
}

HostTensor Large(std::vector<uint64_t> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return HostTensor::Of(Shape{1, count}, numbers);
}

TEST(TypesTest, LargeNumbersOfUint64AreNotNegative) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max(), kHalf = uint64_t{1} << 63;
  const HostTensor a = Large({kMost, kHalf, 7, kMost, kHalf + 5, 9, 4});
  const HostTensor b = Large({1, kHalf + 1, 2, kMost, 3, kMost - 1, 0});
  const auto run = [&](const std::string& op_type) {
    return Binary(op_type, DataType::kUint64, a, b, DataType::kUint64);
  };
  EXPECT_EQ(run("Max"), Large({kMost, kHalf + 1, 7, kMost, kHalf + 5, kMost - 1, 4}));
  EXPECT_EQ(run("Min"), Large({1, kHalf, 2, kMost, 3, 9, 0}));
  EXPECT_EQ(run("Sub"), Large({kMost - 1, kMost, 5, 0, kHalf + 2, 11, 4}));
  EXPECT_EQ(run("Div"), Large({kMost, 0, 3, 1, (kHalf + 5) / 3, 0, 0}));
  EXPECT_EQ(run("Mod"), Large({0, kHalf, 1, 0, (kHalf + 5) % 3, 9, 4}));
  const HostTensor less = Binary("Less", DataType::kUint64, a, b, DataType::kBool);
  EXPECT_EQ(less,
            HostTensor::Of<bool>(Shape{1, 7}, {false, true, false, false, false, true, false}));
}

TEST(TypesTest, HalvesAreRoundedAfterEachOperator) {
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, 2}, DataType::kFloat16)};
  graph.initializers = {Constants("k", {2}, DataType::kFloat16, {2048, 0.5})};
  graph.outputs = {Typed("y", {0, 2}, DataType::kFloat16)};
  graph.nodes = {NodeOf("Add", {"x", "k"}, "s"), NodeOf("Sub", {"s", "k"}, "y")};
  const Imported imported =
      RunModel(std::move(graph), {{"x", TensorOf(DType::kF16, Shape{1, 2}, {1, 0.25})}}, 1);
  // 2048 + 1 is a tie between 2048 and 2050.
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kF16, Shape{1, 2}, {0, 0.25}));
  EXPECT_NE(imported.yaml.find("type: f16"), std::string::npos) << imported.yaml;
}

TEST(TypesTest, BytesAreMovedAsTheyAre) {
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, 2, 2}, DataType::kInt16)};
  graph.outputs = {Typed("y", {0, 4}, DataType::kInt16)};
  graph.initializers = {IntegersOf("shape", {0, -1})};
  graph.nodes = {NodeOf("Transpose", {"x"}, "t", {Ints("perm", {0, 2, 1})}),
                 NodeOf("Reshape", {"t", "shape"}, "y")};
  const Imported imported =
      RunModel(std::move(graph), {{"x", TensorOf(DType::kI16, Shape{1, 2, 2}, {1, 2, 3, -4})}}, 1);
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kI16, Shape{1, 4}, {1, 3, 2, -4}));
  EXPECT_EQ(imported.yaml.find("cast"), std::string::npos) << imported.yaml;
}

std::string ErrorOf(onnx::Graph graph) {
  try {
    RunModel(std::move(graph), {}, 1);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(TypesTest, WhatIsRefusedIsNamed) {
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, 2}, DataType::kFloat8E4M3FN)};
  graph.outputs = {Typed("y", {0, 2}, DataType::kFloat8E4M3FN)};
  graph.nodes = {NodeOf("Identity", {"x"}, "y")};
  EXPECT_NE(ErrorOf(graph).find("input 'x' is"), std::string::npos);
  graph.inputs = {Typed("x", {0, 2}, DataType::kUint64)};
  graph.outputs = {Typed("y", {0, 2}, DataType::kUint64)};
  graph.nodes = {NodeOf("Abs", {"x"}, "y")};
  EXPECT_NE(ErrorOf(graph).find("node 'Abs_of_y' (Abs): computes with uint64"), std::string::npos)
      << ErrorOf(graph);
}

// The parts of quantised models.

onnx::Tensor Scale(const std::string& name, std::vector<float> numbers) {
  std::vector<int64_t> dims;
  if (numbers.size() > 1) dims = {static_cast<int64_t>(numbers.size())};
  return FloatsOf(name, dims, std::move(numbers));
}

TEST(QuantisedTest, QuantizeRoundsHalvesToEvenAndSaturates) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 6})};
  graph.initializers = {Scale("scale", {2}), Constants("zero", {}, DataType::kInt8, {-1})};
  graph.outputs = {Typed("y", {0, 6}, DataType::kInt8)};
  graph.nodes = {NodeOf("QuantizeLinear", {"x", "scale", "zero"}, "y")};
  const Imported imported = RunModel(
      std::move(graph), {{"x", TensorOf(DType::kF32, Shape{1, 6}, {1, 3, -1, -3, 1e9, -1e9})}}, 1);
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kI8, Shape{1, 6}, {-1, 1, -1, -3, 127, -128}));
}

TEST(QuantisedTest, AScaleForEachChannel) {
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, 2, 2}, DataType::kUint8)};
  graph.initializers = {Scale("scale", {2, 0.5}), Constants("zero", {2}, DataType::kUint8, {1, 2})};
  graph.outputs = {ValueOf("y", {0, 2, 2})};
  graph.nodes = {NodeOf("DequantizeLinear", {"x", "scale", "zero"}, "y", {Int("axis", 1)})};
  const Imported imported =
      RunModel(std::move(graph), {{"x", TensorOf(DType::kU8, Shape{1, 2, 2}, {0, 1, 255, 4})}}, 1);
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kF32, Shape{1, 2, 2}, {-2, 0, 126.5, 1}));
}

// A quantised layer with all numbers at the ends of their ranges. The sum of 512 products of
// 255·127 needs 24 bits.
TEST(QuantisedTest, SumsOfQLinearMatMulAreExact) {
  constexpr int64_t kDepth = 512;
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, kDepth}, DataType::kUint8)};
  graph.initializers = {
      Scale("xs", {0.5}),
      Constants("xz", {}, DataType::kUint8, {0}),
      Constants("w", {kDepth, 1}, DataType::kInt8, std::vector<double>(kDepth, 127)),
      Scale("ws", {0.25}),
      Constants("wz", {}, DataType::kInt8, {0}),
      Scale("ys", {16384}),
      Constants("yz", {}, DataType::kUint8, {3})};
  graph.outputs = {Typed("y", {0, 1}, DataType::kUint8)};
  graph.nodes = {NodeOf("QLinearMatMul", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}, "y")};
  const Imported imported = RunModel(
      std::move(graph),
      {{"x", TensorOf(DType::kU8, Shape{1, kDepth}, std::vector<double>(kDepth, 255))}}, 1);
  // 512·255·127·0.125 / 16384 is 126.504.
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kU8, Shape{1, 1}, {127 + 3}));
  EXPECT_NE(imported.yaml.find("matmul_integer"), std::string::npos) << imported.yaml;
}

// The convolution has a bias, and a scale for each of two filters.
TEST(QuantisedTest, QLinearConvAddsItsBiasBeforeItRounds) {
  onnx::Graph graph;
  graph.inputs = {Typed("x", {0, 1, 2, 2}, DataType::kUint8)};
  graph.initializers = {Scale("xs", {1}),
                        Constants("xz", {}, DataType::kUint8, {1}),
                        Constants("w", {2, 1, 1, 1}, DataType::kInt8, {2, -3}),
                        Scale("ws", {0.5, 2}),
                        Constants("wz", {2}, DataType::kInt8, {0, 0}),
                        Scale("ys", {2}),
                        Constants("yz", {}, DataType::kUint8, {10}),
                        Constants("b", {2}, DataType::kInt32, {1, -1})};
  graph.outputs = {Typed("y", {0, 2, 2, 2}, DataType::kUint8)};
  graph.nodes = {NodeOf("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, "y")};
  const Imported imported = RunModel(
      std::move(graph), {{"x", TensorOf(DType::kU8, Shape{1, 1, 2, 2}, {1, 2, 6, 255})}}, 1);
  // 2(x − 1) + 1 is 1, 3, 11, 509, times ¼; −3(x − 1) − 1 is −1, −4, −16, −763, times 1.
  EXPECT_EQ(imported.outputs.at(0),
            TensorOf(DType::kU8, Shape{1, 2, 2, 2}, {10, 11, 13, 137, 9, 6, 0, 0}));
}

// Weights between DequantizeLinear and Conv belong to the layer, as f32.
TEST(QuantisedTest, DequantisedWeightsBelongToTheirLayers) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 1, 2, 2})};
  graph.initializers = {Constants("w", {2, 1, 1, 1}, DataType::kInt8, {-128, 127}),
                        Scale("ws", {0.5, 0.25}), Constants("wz", {2}, DataType::kInt8, {0, -1})};
  graph.outputs = {ValueOf("y", {0, 2, 2, 2})};
  graph.nodes = {NodeOf("DequantizeLinear", {"w", "ws", "wz"}, "d", {Int("axis", 0)}),
                 NodeOf("Conv", {"x", "d"}, "y")};
  const Imported imported = RunModel(
      std::move(graph), {{"x", TensorOf(DType::kF32, Shape{1, 1, 2, 2}, {1, 0, 0, 2})}}, 1);
  EXPECT_EQ(imported.outputs.at(0),
            TensorOf(DType::kF32, Shape{1, 2, 2, 2}, {-64, 0, 0, -128, 32, 0, 0, 64}));
  EXPECT_EQ(imported.yaml.find("mul"), std::string::npos) << imported.yaml;
}

TEST(QuantisedTest, DynamicQuantisationHasOneScaleForAll) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {1, 3})};
  graph.outputs = {Typed("y", {1, 3}, DataType::kUint8), ValueOf("s", {}),
                   Typed("z", {}, DataType::kUint8)};
  graph.nodes = {NodeOf("DynamicQuantizeLinear", {"x"}, "y")};
  graph.nodes[0].outputs = {"y", "s", "z"};
  const Feeds feeds = {{"x", TensorOf(DType::kF32, Shape{1, 3}, {-51, 0, 204})}};
  const Imported imported = RunModel(std::move(graph), feeds, 1);
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kU8, Shape{1, 3}, {0, 51, 255}));
  EXPECT_EQ(imported.outputs.at(1), TensorOf(DType::kF32, Shape{}, {1}));
  EXPECT_EQ(imported.outputs.at(2), TensorOf(DType::kU8, Shape{}, {51}));
}

TEST(QuantisedTest, OperatorsOfMicrosoftJoinScales) {
  onnx::Graph graph;
  graph.inputs = {Typed("a", {0, 2}, DataType::kUint8), Typed("b", {0, 2}, DataType::kUint8)};
  graph.initializers = {Scale("as", {0.5}), Constants("az", {}, DataType::kUint8, {0}),
                        Scale("bs", {2}),   Constants("bz", {}, DataType::kUint8, {100}),
                        Scale("ys", {1}),   Constants("yz", {}, DataType::kUint8, {50})};
  graph.outputs = {Typed("y", {0, 2}, DataType::kUint8)};
  graph.nodes = {NodeOf("QLinearAdd", {"a", "as", "az", "b", "bs", "bz", "ys", "yz"}, "y")};
  graph.nodes[0].domain = "com.microsoft";
  const Feeds feeds = {{"a", TensorOf(DType::kU8, Shape{1, 2}, {4, 5})},
                       {"b", TensorOf(DType::kU8, Shape{1, 2}, {101, 0})}};
  const Imported imported = RunModel(std::move(graph), feeds, 1);
  // 2 + 2 + 50; 2.5 − 200 + 50 is below 0.
  EXPECT_EQ(imported.outputs.at(0), TensorOf(DType::kU8, Shape{1, 2}, {54, 0}));
}

}  // namespace
}  // namespace cgrun
