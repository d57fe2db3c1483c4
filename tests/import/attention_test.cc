// Attention sees the keys that windows and lengths leave, and Einsum takes several operands.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using Feeds = std::map<std::string, HostTensor>;

Floats PredictedBy(onnx::Graph graph, int64_t opset, const Feeds& feeds, int64_t batch) {
  const TempFolder folder;
  const std::string path = folder.path() + "/m.onnx";
  onnx::Model model = ModelOf(std::move(graph));
  model.opset_imports[0].version = opset;
  onnx::WriteModel(path, model);
  onnx::OnnxFile file(path);
  const HostTensor y = Predict(ImportOnnx(file, {}), file, feeds, batch).at(0);
  Floats values;
  for (int64_t i = 0; i < y.elements(); ++i) values.push_back(static_cast<float>(y.At(i)));
  return values;
}

constexpr int64_t kBatch = 2, kQueries = 3, kKeys = 5;

// One head of one number. Queries are 0, so that a result is the mean of the values that are seen.
Floats MeansOf(std::vector<onnx::Attribute> attributes, const std::vector<int64_t>& lengths) {
  onnx::Graph graph;
  std::vector<std::string> inputs = {"q", "k", "v"};
  graph.inputs = {ValueOf("q", {0, 1, kQueries, 1}), ValueOf("k", {0, 1, kKeys, 1}),
                  ValueOf("v", {0, 1, kKeys, 1})};
  HostTensor values(DType::kF32, Shape{kBatch, 1, kKeys, 1});
  for (int64_t i = 0; i < values.elements(); ++i) values.Set(i, static_cast<double>(1 << (i % 5)));
  Feeds feeds = {{"q", HostTensor(DType::kF32, Shape{kBatch, 1, kQueries, 1})},
                 {"k", HostTensor(DType::kF32, Shape{kBatch, 1, kKeys, 1})},
                 {"v", values}};
  if (!lengths.empty()) {
    inputs.insert(inputs.end(), {"", "", "", "n"});
    graph.inputs.push_back(ValueOf("n", {0}));
    graph.inputs.back().type->tensor_type->elem_type = onnx::DataType::kInt64;
    feeds.emplace("n", HostTensor::Of(Shape{kBatch}, lengths));
  }
  graph.outputs = {ValueOf("y", {0, 1, kQueries, 1})};
  graph.nodes = {NodeOf("Attention", inputs, "y", std::move(attributes))};
  return PredictedBy(std::move(graph), 25, feeds, kBatch);
}

TEST(AttentionTest, AWindowLeavesTheKeysAroundAQuery) {
  const Floats y = MeansOf({Int("left_window_size", 1), Int("right_window_size", 0)}, {});
  EXPECT_EQ(y, (Floats{1, 1.5f, 3, 1, 1.5f, 3}));
}

TEST(AttentionTest, AQueryBeforeTheKeysOfItsSampleGetsZero) {
  const Floats y = MeansOf({Int("is_causal", 1)}, {2, 4});
  const Floats wanted = {0, 1, 1.5f, 1.5f, 7.0f / 3, 15.0f / 4};
  ASSERT_EQ(y.size(), wanted.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], wanted[i]) << i;
}

TEST(AttentionTest, EinsumTakesSeveralOperandsAndDiagonals) {
  onnx::Attribute equation;
  equation.name = "equation";
  equation.type = onnx::AttributeType::kString;
  equation.s = "nii,ij,nj->n";
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 2, 2}), ValueOf("z", {0, 2})};
  graph.initializers = {FloatsOf("w", {2, 2}, {1, 2, 3, 4})};
  graph.outputs = {ValueOf("y", {0})};
  graph.nodes = {NodeOf("Einsum", {"x", "w", "z"}, "y", {equation})};
  const Feeds feeds = {{"x", HostTensor::Of(Shape{1, 2, 2}, Floats{1, 9, 9, 2})},
                       {"z", HostTensor::Of(Shape{1, 2}, Floats{10, 1})}};
  // (1, 2)·W = (7, 10)
  EXPECT_EQ(PredictedBy(std::move(graph), 17, feeds, 1), (Floats{80}));
}

}  // namespace
}  // namespace cgrun
