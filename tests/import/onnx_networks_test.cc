// Expands networks of model files that are models of ONNX, and writes their weights.
#include "src/import/onnx_networks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/io/safetensors.h"
#include "src/model/model_file.h"
#include "src/onnx/write.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// A stack of rows is scaled by a constant, goes through a layer, and is normalised.
onnx::Model Rows() {
  onnx::Graph graph;
  graph.inputs = {ValueOf("rows/x", {0, 2, 4}), ValueOf("ids", {0})};
  graph.inputs[1].type->tensor_type->elem_type = onnx::DataType::kInt64;
  graph.outputs = {ValueOf("y", {0, 2, 3}), ValueOf("found", {0, 4})};
  graph.initializers = {
      FloatsOf("factor", {4}, Numbers(4)), FloatsOf("fc.weight", {4, 3}, Numbers(12)),
      FloatsOf("scale", {2}, Numbers(2)),  FloatsOf("shift", {2}, Numbers(2)),
      FloatsOf("slope", {1}, {0.25f}),     FloatsOf("table", {5, 4}, Numbers(20))};
  graph.nodes = {NodeOf("Mul", {"rows/x", "factor"}, "scaled"),
                 NodeOf("MatMul", {"scaled", "fc.weight"}, "m"),
                 NodeOf("PRelu", {"m", "slope"}, "p"),
                 NodeOf("InstanceNormalization", {"p", "scale", "shift"}, "y"),
                 NodeOf("Gather", {"table", "ids"}, "found")};
  return ModelOf(std::move(graph));
}

class OnnxNetworksTest : public testing::Test {
 protected:
  void SetUp() override { onnx::WriteModel(folder_.path() + "/rows.onnx", Rows()); }

  // Reads a model whose network `rows` has these keys. Returns nothing after an error, which is
  // kept.
  std::optional<ModelSpec> Read(const std::string& keys) {
    const std::string text = "cgrun: 1\ninputs: {a: {shape: [2, 4]}}\nnetworks: {rows: {" + keys +
                             "}}\npaths: {p: {mode: forward, ops: [{network: rows, in: [" + given_ +
                             "]}]}}\n";
    Diagnostics diagnostics;
    auto model = ParseModel({folder_.path() + "/m.yaml", text}, {}, diagnostics, {}, nullptr,
                            [&](TreeNode& tree, const std::string& file, Diagnostics& found) {
                              networks_.Expand(tree, file, found);
                            });
    errors_ = diagnostics.ToString();
    return model;
  }

  // Returns `rows` as it stands after expansion, without the name of its file.
  std::string Expanded(const std::string& keys) {
    const auto model = Read("onnx: rows.onnx, " + keys);
    if (!model) return errors_;
    TreeNode network = model->tree.Find("networks")->value.Find("rows")->value;
    std::erase_if(network.entries, [](const TreeEntry& entry) { return entry.key == "onnx"; });
    return ToYaml(network);
  }

  TempFolder folder_;
  OnnxNetworks networks_;
  std::string given_ = "a";  // to the network
  std::string errors_;
};

TEST_F(OnnxNetworksTest, WeightsOfOperatorsLearnAndOtherConstantsDoNot) {
  const std::string yaml = Expanded("outputs: [y]");
  EXPECT_NE(yaml.find("in: rows_x\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("out: y\n"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("factor: {op: parameter, shape: [4], frozen: true}"), std::string::npos)
      << yaml;
  for (const char* name : {"scale", "shift", "slope"}) {
    const size_t at = yaml.find(std::string(name) + ": {op: parameter");
    ASSERT_NE(at, std::string::npos) << name << yaml;
    const std::string line = yaml.substr(at, yaml.find('\n', at) - at);
    EXPECT_EQ(line.find("frozen"), std::string::npos) << line;
  }
}

TEST_F(OnnxNetworksTest, PatternsChangeWhatLearns) {
  const std::string yaml = Expanded("outputs: [y], frozen: [fc, s*], train: [factor, slope]");
  EXPECT_NE(yaml.find("fc: {op: linear, units: 3, bias: false, frozen: true}"), std::string::npos)
      << yaml;
  EXPECT_NE(yaml.find("factor: {op: parameter, shape: [4]}"), std::string::npos) << yaml;
  EXPECT_NE(yaml.find("scale: {op: parameter, shape: [2], frozen: true}"), std::string::npos)
      << yaml;
  EXPECT_EQ(yaml.find("train"), std::string::npos) << yaml;
  EXPECT_NE(Expanded("outputs: [y], frozen: fcc").find("did you mean 'fc'?"), std::string::npos);
}

TEST_F(OnnxNetworksTest, InputsAreThoseThatAreNeededInAnyOrder) {
  EXPECT_NE(Expanded("outputs: [Gather_of_found]").find("in: ids\n"), std::string::npos);
  given_ = "a, a";
  EXPECT_NE(Expanded("in: [ids, rows_x]").find("in: [ids, rows_x]\n"), std::string::npos);
  EXPECT_NE(Expanded("in: [ids]").find("does not name the input 'rows_x'"), std::string::npos);
  EXPECT_NE(Expanded("in: [ids, rowx]").find("has no input 'rowx'"), std::string::npos);
  EXPECT_NE(Expanded("out: y").find("`outputs` names its values"), std::string::npos);
}

TEST_F(OnnxNetworksTest, WithoutAnImporterTheFrontEndRefusesIt) {
  Diagnostics diagnostics;
  const auto model =
      ParseModel({"m.yaml",
                  "cgrun: 1\ninputs: {a: {shape: [4]}}\nnetworks: {rows: {onnx: rows.onnx}}\n"
                  "paths: {p: {mode: forward, ops: [{network: rows, in: a}]}}\n"},
                 {}, diagnostics);
  ASSERT_TRUE(model) << diagnostics.ToString();
  EXPECT_FALSE(BuildForward(*model, {EntryKind::kPredict}, diagnostics));
  EXPECT_NE(diagnostics.ToString().find("was not imported"), std::string::npos);
}

TEST_F(OnnxNetworksTest, WhatWasExpandedIsReadAsItIs) {
  const auto model = Read("onnx: rows.onnx, outputs: [y], frozen: true");
  ASSERT_TRUE(model) << errors_;
  const std::string text = ToYaml(ResolvedTree(*model));
  Diagnostics diagnostics;
  const auto again = ParseModel({"/nowhere/m.yaml", text}, {}, diagnostics);
  ASSERT_TRUE(again) << diagnostics.ToString();
  EXPECT_EQ(ToYaml(ResolvedTree(*again)), text);
  EXPECT_TRUE(BuildForward(*again, {EntryKind::kPredict}, diagnostics)) << diagnostics.ToString();
}

TEST_F(OnnxNetworksTest, WeightsHaveTheNamesOfTheModelsParameters) {
  const auto model = Read("onnx: rows.onnx, outputs: [y]");
  ASSERT_TRUE(model) << errors_;
  const std::string path = folder_.path() + "/w.safetensors";
  networks_.Forget();  // as in another process
  networks_.WriteWeights(*model, path);
  std::vector<std::string> names;
  SafetensorsReader reader(path);
  for (const TensorSpec& tensor : reader.tensors()) {
    names.push_back(tensor.name);
    const HostTensor read = reader.Read();
    if (tensor.name == "rows.slope.value") {
      EXPECT_EQ(read.At(0), 0.25);
    }
  }
  Diagnostics diagnostics;
  const auto graph = BuildForward(*model, {EntryKind::kPredict}, diagnostics);
  ASSERT_TRUE(graph) << diagnostics.ToString();
  EXPECT_EQ(names.size(), graph->parameters.size());
  for (const auto& [id, info] : graph->parameters) {
    EXPECT_EQ(std::ranges::count(names, graph->values[id].name), 1) << graph->values[id].name;
  }
}

}  // namespace
}  // namespace cgrun
