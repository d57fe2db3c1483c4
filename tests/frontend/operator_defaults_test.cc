// Writing out defaults: the models that ship stay what they are.
#include "src/frontend/operator_defaults.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "src/frontend/frontend.h"
#include "src/ir/graph.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

std::string GraphOf(const ModelSpec& model, EntryKind kind) {
  Diagnostics diagnostics;
  const auto graph = BuildForward(model, {kind, DType::kF32}, diagnostics);
  EXPECT_TRUE(graph) << diagnostics.ToString();
  return graph ? ToString(*graph) : "";
}

TEST(OperatorDefaults, ChangeNoModel) {
  int models = 0;
  for (const auto& file : std::filesystem::directory_iterator("models")) {
    if (file.path().extension() != ".yaml") continue;
    ++models;
    Diagnostics diagnostics;
    const auto model = LoadModelFile(file.path().string(), {}, diagnostics);
    ASSERT_TRUE(model) << diagnostics.ToString();
    const std::string text = ToYaml(WithOperatorDefaults(ResolvedTree(*model)));
    const auto resolved = ParseModel({file.path().string(), text}, {}, diagnostics);
    ASSERT_TRUE(resolved) << diagnostics.ToString() << text;
    for (const EntryKind kind : {EntryKind::kTrain, EntryKind::kEval, EntryKind::kPredict}) {
      EXPECT_EQ(GraphOf(*resolved, kind), GraphOf(*model, kind)) << file.path();
    }
    EXPECT_EQ(ToYaml(WithOperatorDefaults(ResolvedTree(*resolved))), text);
  }
  EXPECT_GE(models, 14);
}

TEST(OperatorDefaults, AreWrittenOut) {
  Diagnostics diagnostics;
  auto tree = Parse({"m.yaml", R"(
paths:
  p:
    ops: [{op: conv, filters: 3, kernel: 3, stride: 2}, {block: b}]
    loss: {op: softmax_cross_entropy, in: [a, b]}
    metrics: {accuracy: {in: [a, b]}, second: {op: top_k_accuracy, in: [a, b]}}
train: {optimizer: {op: adam, lr: 0.1, beta1: 0.5}}
)"},
                    diagnostics);
  ASSERT_TRUE(tree) << diagnostics.ToString();
  const std::string text = ToYaml(WithOperatorDefaults(*tree));
  for (const char* written : {"stride: 2", "dilation:", "groups: 1", "label_smoothing: 0",
                              "top_k: 1", "k: 5", "beta1: 0.5", "beta2: 0.999"}) {
    EXPECT_NE(text.find(written), std::string::npos) << written << "\n" << text;
  }
  EXPECT_EQ(text.find("stride: [1"), std::string::npos) << text;
}

}  // namespace
}  // namespace cgrun
