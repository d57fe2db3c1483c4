// Attributes as a model file gives them: shapes of one sample, lists of numbers, faults.
#include "src/frontend/attribute_parser.h"

#include <gtest/gtest.h>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

// The graph of a model whose only path has one operator, which reads f32[N, 3, 8].
std::optional<Graph> Build(const std::string& op, Diagnostics& diagnostics) {
  const std::string text = R"(
cgrun: 1
model: one
data:
  train: {format: synthetic, samples: 8, classes: 2}
inputs:
  x: {type: f32, shape: [3, 8]}
paths:
  only:
    mode: forward
    ops:
      - y: )" + op + "\ntrain: {epochs: 1, batch: 4}\n";
  const auto model = ParseModel({"one.yaml", text}, {}, diagnostics);
  if (!model) return std::nullopt;
  return BuildForward(*model, {EntryKind::kPredict, DType::kF32}, diagnostics);
}

// Returns the type of y, or the first error.
std::string TypeOrError(const std::string& op) {
  Diagnostics diagnostics;
  const auto graph = Build(op, diagnostics);
  if (!graph) return diagnostics.Sorted().empty() ? "no error" : diagnostics.Sorted()[0].message;
  for (const Node& node : graph->nodes) return graph->values[node.outputs[0]].type.ToString();
  return "no node";
}

TEST(AttributeParserTest, ShapesAreOfOneSample) {
  EXPECT_EQ(TypeOrError("{op: reshape, in: x, shape: [4, 6]}"), "f32[N, 4, 6]");
  EXPECT_EQ(TypeOrError("{op: reshape, in: x, shape: [2, -1]}"), "f32[N, 2, 12]");
  EXPECT_EQ(TypeOrError("{op: reshape, in: x, shape: [24]}"), "f32[N, 24]");
}

TEST(AttributeParserTest, WrongShapesAreReported) {
  EXPECT_NE(TypeOrError("{op: reshape, in: x, shape: [5, 6]}").find("cannot reshape"),
            std::string::npos);
  EXPECT_NE(TypeOrError("{op: reshape, in: x, shape: [0, -1]}").find("cannot reshape"),
            std::string::npos);
  EXPECT_NE(TypeOrError("{op: reshape, in: x, shape: [-2, 6]}").find("-2"), std::string::npos);
  EXPECT_NE(TypeOrError("{op: reshape, in: x}").find("needs 'shape'"), std::string::npos);
}

TEST(AttributeParserTest, ListsOfNumbersTakeOneNumberToo) {
  EXPECT_EQ(TypeOrError("{op: normalize, in: x, mean: 0.5}"), "f32[N, 3, 8]");
  EXPECT_EQ(TypeOrError("{op: normalize, in: x, mean: [0.1, 0.2, 0.3], std: [1, 2, 3]}"),
            "f32[N, 3, 8]");
  EXPECT_NE(TypeOrError("{op: normalize, in: x, mean: [0.1, 0.2]}").find("`mean` has 2 numbers"),
            std::string::npos);
}

// The first error of a convolution, and its help.
std::string PaddingError(const std::string& op, const std::string& padding) {
  Diagnostics diagnostics;
  Build("{op: " + op + ", in: x, filters: 2, kernel: 3, padding: " + padding + "}", diagnostics);
  for (const Diagnostic& error : diagnostics.Sorted()) {
    if (error.message.starts_with("'padding'")) return error.message + "; " + error.help;
  }
  return "";
}

TEST(AttributeParserTest, WordsForPaddingLeadToOurs) {
  EXPECT_EQ(PaddingError("conv", "same"), "");
  EXPECT_EQ(PaddingError("conv", "SAME"),
            "'padding' must be integers or `same`, not 'SAME'; write 'same'");
  EXPECT_EQ(PaddingError("conv", "valid"),
            "'padding' must be integers or `same`, not 'valid'; no padding is 0, the default");
  EXPECT_NE(PaddingError("conv", "reflect").find("`same` pads so that"), std::string::npos);
  EXPECT_NE(PaddingError("conv_transpose", "same").find("must be integers, not 'same'; padding: "),
            std::string::npos);
}

TEST(AttributeParserTest, AxesCountTheBatch) {
  EXPECT_EQ(TypeOrError("{op: flatten, in: x}"), "f32[N, 24]");
  EXPECT_EQ(TypeOrError("{op: transpose, in: x, perm: [0, 2, 1]}"), "f32[N, 8, 3]");
  EXPECT_EQ(TypeOrError("{op: reduce_mean, in: x, axes: -1}"), "f32[N, 3]");
  EXPECT_EQ(TypeOrError("{op: slice, in: x, axes: 2, starts: 1, ends: 7, steps: 2}"),
            "f32[N, 3, 3]");
  EXPECT_EQ(TypeOrError("{op: pad, in: x, axes: [1, 2], before: [1, 0], after: [0, 2]}"),
            "f32[N, 4, 10]");
}

}  // namespace
}  // namespace cgrun
