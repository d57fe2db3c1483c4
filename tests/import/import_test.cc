// Imports models that are written here: what comes out, and what is refused.
#include "src/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/io/safetensors.h"
#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

// Conv, BatchNormalization, Relu, MaxPool, a Reshape whose shape is computed, Gemm with its weight
// as PyTorch does not have it, MatMul and Add. The images are [batch, 2, 4, side].
onnx::Model SmallModel() {
  onnx::Graph graph;
  graph.inputs = {ValueOf("image", {0, 2, 4, -1}), ValueOf("conv.weight", {3, 2, 3, 3})};
  graph.outputs = {ValueOf("scores/out", {0, 2})};
  graph.initializers = {FloatsOf("conv.weight", {3, 2, 3, 3}, Numbers(54)),
                        FloatsOf("conv.bias", {3}, {0.5f, -0.25f, 0.125f}),
                        FloatsOf("scale", {3}, Numbers(3, 0.5f)),
                        FloatsOf("shift", {3}, {0.1f, 0.2f, 0.3f}),
                        FloatsOf("mean", {3}, {-0.1f, 0.3f, 0}),
                        FloatsOf("var", {3}, Numbers(3, 0.25f)),
                        IntegersOf("first", {0}, true),
                        IntegersOf("axis", {0}),
                        IntegersOf("rest", {-1}),
                        FloatsOf("gemm.weight", {12, 5}, Numbers(60)),
                        FloatsOf("gemm.bias", {1}, {0.75f}),
                        FloatsOf("last", {5, 2}, Numbers(10)),
                        FloatsOf("last.bias", {2}, {1, -1})};
  graph.nodes = {
      NodeOf("Conv", {"image", "conv.weight", "conv.bias"}, "c", {Ints("pads", {1, 1, 1, 1})}),
      NodeOf("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, "b"),
      NodeOf("Relu", {"b"}, "r"),
      NodeOf("MaxPool", {"r"}, "p", {Ints("kernel_shape", {2, 2}), Ints("strides", {2, 2})}),
      NodeOf("Shape", {"p"}, "shape"),
      NodeOf("Gather", {"shape", "first"}, "count"),
      NodeOf("Unsqueeze", {"count", "axis"}, "counts"),
      NodeOf("Concat", {"counts", "rest"}, "flat_shape", {Int("axis", 0)}),
      NodeOf("Reshape", {"p", "flat_shape"}, "flat"),
      NodeOf("Gemm", {"flat", "gemm.weight", "gemm.bias"}, "g"),
      NodeOf("MatMul", {"g", "last"}, "m"),
      NodeOf("Add", {"m", "last.bias"}, "scores/out"),
      NodeOf("NoSuchOperator", {"m"}, "unused")};
  return ModelOf(std::move(graph));
}

// Returns what SmallModel() gives for one image [2, 4, 4], computed by its definition.
Floats ByHand(const float* image) {
  const Floats weight = Numbers(54), bias = {0.5f, -0.25f, 0.125f}, scale = Numbers(3, 0.5f);
  const Floats shift = {0.1f, 0.2f, 0.3f}, mean = {-0.1f, 0.3f, 0}, var = Numbers(3, 0.25f);
  std::vector<double> flat;
  for (int f = 0; f < 3; ++f) {
    const auto at = static_cast<size_t>(f);
    double normalised[4][4];
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        double sum = static_cast<double>(bias[at]);
        for (int c = 0; c < 2; ++c) {
          for (int u = 0; u < 3; ++u) {
            for (int v = 0; v < 3; ++v) {
              const int y = i + u - 1, x = j + v - 1;
              if (y < 0 || x < 0 || y >= 4 || x >= 4) continue;
              sum +=
                  static_cast<double>(weight[static_cast<size_t>(((f * 2 + c) * 3 + u) * 3 + v)]) *
                  static_cast<double>(image[(c * 4 + y) * 4 + x]);
            }
          }
        }
        const double deviation = std::sqrt(static_cast<double>(var[at]) + 1e-5);
        sum = (sum - static_cast<double>(mean[at])) / deviation * static_cast<double>(scale[at]) +
              static_cast<double>(shift[at]);
        normalised[i][j] = std::max(sum, 0.0);
      }
    }
    for (int i = 0; i < 4; i += 2) {
      for (int j = 0; j < 4; j += 2) {
        flat.push_back(std::max({normalised[i][j], normalised[i][j + 1], normalised[i + 1][j],
                                 normalised[i + 1][j + 1]}));
      }
    }
  }
  const Floats gemm = Numbers(60), last = Numbers(10), last_bias = {1, -1};
  Floats scores;
  std::vector<double> hidden(5, 0.75);
  for (size_t k = 0; k < 12; ++k) {
    for (size_t u = 0; u < 5; ++u) hidden[u] += flat[k] * static_cast<double>(gemm[k * 5 + u]);
  }
  for (size_t u = 0; u < 2; ++u) {
    double sum = static_cast<double>(last_bias[u]);
    for (size_t k = 0; k < 5; ++k) sum += hidden[k] * static_cast<double>(last[k * 2 + u]);
    scores.push_back(static_cast<float>(sum));
  }
  return scores;
}

class ImportTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  onnx::OnnxFile Written(const onnx::Model& model) const {
    onnx::WriteModel(Path("m.onnx"), model);
    return onnx::OnnxFile(Path("m.onnx"));
  }

  // Returns the error of an import, without the path; "" for none.
  std::string Refusal(const onnx::Model& model, const ImportOptions& options = {}) const {
    onnx::WriteModel(Path("m.onnx"), model);
    try {
      onnx::OnnxFile file(Path("m.onnx"));
      ImportOnnx(file, options);
    } catch (const InputError& error) {
      const std::string text = error.what(), path = "'" + Path("m.onnx") + "'";
      EXPECT_TRUE(text.starts_with(path)) << text;
      return text.substr(std::min(path.size(), text.size()));
    }
    return "";
  }

  TempFolder folder_;
};

const ImportOptions kSide4{.dims = {{"side", 4}}, .constants = {}};

TEST_F(ImportTest, AnImportedNetworkPredictsWhatItsDefinitionGives) {
  onnx::WriteModel(Path("m.onnx"), SmallModel());
  onnx::OnnxFile file(Path("m.onnx"));
  const ImportedModel model = ImportOnnx(file, kSide4);
  const Floats images = Numbers(3 * 32);
  const auto outputs =
      Predict(model, file, {{"image", HostTensor::Of(Shape{3, 2, 4, 4}, images)}}, 3);
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(outputs[0].shape(), (Shape{3, 2}));
  for (int64_t n = 0; n < 3; ++n) {
    const Floats wanted = ByHand(images.data() + n * 32);
    for (int64_t u = 0; u < 2; ++u) {
      EXPECT_NEAR(outputs[0].At(n * 2 + u), wanted[static_cast<size_t>(u)], 1e-5) << n << u;
    }
  }
}

TEST_F(ImportTest, TheModelFileIsWhatAPersonWouldWrite) {
  onnx::WriteModel(Path("m.onnx"), SmallModel());
  onnx::OnnxFile file(Path("m.onnx"));
  const ImportedModel model = ImportOnnx(file, kSide4);
  EXPECT_EQ(ToYaml(model.tree), R"(cgrun: 1
inputs:
  image: {type: f32, shape: [2, 4, 4]}
paths:
  predict:
    mode: forward
    ops:
      - conv: {op: conv, in: image, filters: 3, kernel: 3, padding: 1}
      - BatchNormalization_of_b: {op: batch_norm, frozen: true}
      - {Relu_of_r: relu}
      - MaxPool_of_p: {op: max_pool, kernel: 2, stride: 2}
      - Reshape_of_flat: {op: reshape, shape: [12]}
      - gemm: {op: linear, units: 5}
      - scores_out: {op: linear, units: 2}
    out: scores_out
)");
  EXPECT_EQ(model.folded.size(), 4u);
}

TEST_F(ImportTest, WeightsAreWrittenBesideTheModelFile) {
  onnx::WriteModel(Path("m.onnx"), SmallModel());
  onnx::OnnxFile file(Path("m.onnx"));
  const ImportedModel model = ImportOnnx(file, kSide4);
  WriteImported(model, file, Path("m.yaml"), Path("m.safetensors"));
  Diagnostics diagnostics;
  const auto spec = LoadModelFile(Path("m.yaml"), {}, diagnostics);
  ASSERT_TRUE(spec.has_value()) << diagnostics.ToString();
  EXPECT_EQ(spec->weights->value, "m.safetensors");
  SafetensorsReader reader(Path("m.safetensors"));
  EXPECT_EQ(reader.tensors().size(), 10u);
  for (const TensorSpec& tensor : reader.tensors()) {
    const HostTensor read = reader.Read();
    if (tensor.name == "predict.scores_out.weight") {
      const Floats last = Numbers(10);
      for (int64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(read.At(i), static_cast<double>(last[static_cast<size_t>(i % 5 * 2 + i / 5)]));
      }
    }
    if (tensor.name == "predict.gemm.bias") {
      for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(read.At(i), 0.75);
    }
  }
}

TEST_F(ImportTest, DimensionsWithoutASizeAreListedAtOnce) {
  onnx::Model model = SmallModel();
  onnx::Dimension unnamed;
  model.graph->inputs[0].type->tensor_type->shape->dims[1] = unnamed;
  EXPECT_EQ(Refusal(model), " has dimensions without a size: 'image.1', 'side'");
  EXPECT_EQ(Refusal(model, {.dims = {{"side", 4}, {"image.1", 2}}, .constants = {}}), "");
  EXPECT_EQ(Refusal(model, {.dims = {{"sides", 4}}, .constants = {}}), " has no dimension 'sides'");
}

TEST_F(ImportTest, FaultsNameTheNodeAndTheAttribute) {
  struct Case {
    std::function<void(onnx::Graph&)> change;
    const char* wanted;
  };
  const Case cases[] = {
      {[](onnx::Graph& g) { g.nodes[2].op_type = "Unheard"; },
       ": node 'Relu_of_r' (Unheard): cannot be imported"},
      {[](onnx::Graph& g) { g.nodes[2].domain = "com.example"; },
       ": node 'Relu_of_r' (Relu): is an operator of 'com.example'"},
      {[](onnx::Graph& g) { g.nodes[2].attributes = {Int("slope", 1)}; },
       ": node 'Relu_of_r' (Relu): attribute 'slope' is not known"},
      {[](onnx::Graph& g) { g.nodes[3].attributes.push_back(Int("storage_order", 1)); },
       ": node 'MaxPool_of_p' (MaxPool): attribute 'storage_order' is 1"},
      {[](onnx::Graph& g) { g.nodes[3].attributes.push_back(Ints("ceil_mode", {1})); },
       ": node 'MaxPool_of_p' (MaxPool): attribute 'ceil_mode' is no integer"},
      {[](onnx::Graph& g) {
         g.nodes[0].attributes[0].ints = {1, 1};
       },
       ": node 'Conv_of_c' (Conv): attribute 'pads' has 2 numbers, not 4"},
      {[](onnx::Graph& g) {
         g.nodes[0].attributes[0].ints = {1, 1, 1, -1};
       },
       ": node 'Conv_of_c' (Conv): has a window out of range"},
      {[](onnx::Graph& g) {
         g.initializers[0] = FloatsOf("conv.weight", {3, 1, 3, 6}, Numbers(54));
       },
       ": node 'Conv_of_c' (Conv): "},
      {[](onnx::Graph& g) { g.initializers[1] = FloatsOf("conv.bias", {1}, {0}); },
       ": node 'Conv_of_c' (Conv): its tensor 'conv.bias' is [1], and [3] is wanted"},
      {[](onnx::Graph& g) { g.nodes[2].inputs = {"nowhere"}; },
       ": node 'Relu_of_r' (Relu): reads 'nowhere', which nothing before it makes"},
      {[](onnx::Graph& g) { g.nodes.insert(g.nodes.begin(), g.nodes[0]); },
       ": node 'Conv_of_c' (Conv): makes 'c', which there is already"},
      {[](onnx::Graph& g) { g.nodes[3].outputs.push_back("flat_shape"); },
       ": node 'MaxPool_of_p' (MaxPool): its output 'flat_shape' is used"},
      {[](onnx::Graph& g) { g.initializers[8] = IntegersOf("rest", {7}); },
       ": node 'Reshape_of_flat' (Reshape): "},
      {[](onnx::Graph& g) { g.outputs[0].name = "none"; },
       " has no node that makes its output 'none'"},
      {[](onnx::Graph& g) { g.inputs.erase(g.inputs.begin()); }, " has no input that is fed"},
  };
  for (const Case& c : cases) {
    onnx::Model model = SmallModel();
    c.change(*model.graph);
    const std::string refusal = Refusal(model, kSide4);
    EXPECT_TRUE(refusal.starts_with(c.wanted)) << refusal << "\ninstead of " << c.wanted;
  }
}

TEST_F(ImportTest, OpsetsThatAreTooOldOrTooNewAreRefused) {
  for (const int64_t version : {6, 28}) {
    onnx::Model model = SmallModel();
    model.opset_imports[0].version = version;
    EXPECT_TRUE(Refusal(model, kSide4).starts_with(" has operators of opset"));
  }
  onnx::Model model = SmallModel();
  model.opset_imports.clear();
  EXPECT_TRUE(Refusal(model, kSide4).starts_with(" does not say of which opset"));
}

// Lists that double, then stay large: files of a few bytes a node ask for 128 KiB each.
TEST_F(ImportTest, FoldingHasABudget) {
  onnx::Model model = SmallModel();
  std::vector<onnx::Node> nodes = {NodeOf("Shape", {"image"}, "s0")};
  for (int i = 0; i < 600; ++i) {
    const std::string before = i < 11 ? "s" + std::to_string(i) : "s10";
    nodes.push_back(
        NodeOf("Concat", {before, before}, "s" + std::to_string(i + 1), {Int("axis", 0)}));
  }
  std::vector<std::string> all;
  for (int i = 11; i <= 600; ++i) all.push_back("s" + std::to_string(i));
  nodes.push_back(NodeOf("Concat", all, "long", {Int("axis", 0)}));
  nodes.push_back(NodeOf("Reshape", {"image", "long"}, "scores/out"));
  model.graph->nodes = nodes;
  const std::string refusal = Refusal(model, kSide4);
  EXPECT_NE(refusal.find("more than 64 MiB"), std::string::npos) << refusal;
}

// The numbers are more than folding allows, so that the model makes them.
TEST_F(ImportTest, ALongRangeIsMadeWhenTheModelRuns) {
  constexpr int64_t kCount = 20'000;
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, kCount})};
  graph.outputs = {ValueOf("y", {0, kCount})};
  graph.initializers = {FloatsOf("start", {}, {5}), FloatsOf("limit", {}, {5 + 2 * kCount}),
                        FloatsOf("delta", {}, {2})};
  graph.nodes = {NodeOf("Range", {"start", "limit", "delta"}, "range"),
                 NodeOf("Add", {"x", "range"}, "y")};
  const std::string path = Path("m.onnx");
  onnx::WriteModel(path, ModelOf(graph));
  onnx::OnnxFile file(path);
  const ImportedModel imported = ImportOnnx(file, {});
  const Floats zeros(kCount);
  const HostTensor y =
      Predict(imported, file, {{"x", HostTensor::Of(Shape{1, kCount}, zeros)}}, 1).at(0);
  for (int64_t i = 0; i < kCount; i += 1999) EXPECT_EQ(y.At(i), 5 + 2 * i);
}

TEST_F(ImportTest, AnOutputOfAnotherShapeThanDeclaredIsAWarning) {
  onnx::Graph graph;
  graph.inputs = {ValueOf("x", {0, 4})};
  graph.outputs = {ValueOf("y", {0, 3})};
  graph.nodes = {NodeOf("Relu", {"x"}, "y")};
  const std::string path = Path("m.onnx");
  onnx::WriteModel(path, ModelOf(graph));
  onnx::OnnxFile file(path);
  const ImportedModel imported = ImportOnnx(file, {});
  ASSERT_EQ(imported.warnings.size(), 1u);
  EXPECT_EQ(imported.warnings[0],
            "'" + path + "' says that its output 'y' is [batch, 3], and it is [N, 4]");
}

// Some writers do not keep the order in which nodes run.
TEST_F(ImportTest, NodesMayStandInAnyOrder) {
  onnx::Model model = SmallModel();
  std::ranges::reverse(model.graph->nodes);
  onnx::WriteModel(Path("m.onnx"), model);
  onnx::OnnxFile file(Path("m.onnx"));
  onnx::WriteModel(Path("n.onnx"), SmallModel());
  onnx::OnnxFile in_order(Path("n.onnx"));
  EXPECT_EQ(ToYaml(ImportOnnx(file, kSide4).tree), ToYaml(ImportOnnx(in_order, kSide4).tree));
  onnx::Node& conv = model.graph->nodes.back();
  conv.inputs[0] = conv.outputs[0];
  EXPECT_NE(Refusal(model, kSide4).find("reads 'c', which nothing before it makes"),
            std::string::npos);
}

// Names that clash, or that a model file takes for something else.
TEST_F(ImportTest, NamesAreCleanAndUnique) {
  EXPECT_EQ(CleanName("/layer1/layer1.0/conv1/Conv"), "layer1_0_conv1_Conv");
  EXPECT_EQ(CleanName("12"), "v12");
  EXPECT_EQ(CleanName("null"), "null_");
  EXPECT_EQ(CleanName("///"), "value");
  onnx::Graph graph;
  graph.inputs = {ValueOf("a.b", {0, 2}), ValueOf("a/b", {0, 2})};
  graph.outputs = {ValueOf("true", {0, 2}), ValueOf("a b", {0, 2})};
  graph.nodes = {NodeOf("Add", {"a.b", "a/b"}, "true"), NodeOf("Identity", {"a.b"}, "a b")};
  onnx::WriteModel(Path("m.onnx"), ModelOf(graph));
  onnx::OnnxFile file(Path("m.onnx"));
  const ImportedModel model = ImportOnnx(file, {});
  Diagnostics diagnostics;
  EXPECT_TRUE(ParseModel({"m.yaml", ToYaml(model.tree)}, {}, diagnostics).has_value())
      << diagnostics.ToString() << ToYaml(model.tree);
}

}  // namespace
}  // namespace cgrun
