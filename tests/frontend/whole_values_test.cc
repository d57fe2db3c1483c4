// Builds graphs with inputs that have no batch, and with parameters as values.
#include <gtest/gtest.h>

#include <string>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
inputs:
  x: {shape: [3, 4]}
  by: {shape: [2, 6], batch: false}
paths:
  predict:
    mode: forward
    ops:
      - c: {op: parameter, shape: [3, 1], init: {constant: 2}}
      - ids: {op: parameter, type: int64, shape: []}
      - flat: {op: reshape, in: by, shape: [3, 4]}
      - half: {op: mul, in: [flat, c]}
      - y: {op: add, in: [x, half]}
    out: [y, half, ids]
)";

std::optional<Graph> Built(const std::string& text, Diagnostics& diagnostics) {
  const auto model = ParseModel({"m.yaml", text}, {}, diagnostics);
  if (!model) return std::nullopt;
  return BuildForward(*model, {EntryKind::kPredict, DType::kF32}, diagnostics);
}

TEST(WholeValues, HaveNoBatchAxis) {
  Diagnostics diagnostics;
  const auto graph = Built(kModel, diagnostics);
  ASSERT_TRUE(graph.has_value()) << diagnostics.ToString();
  const auto type = [&](const std::string& name) {
    return graph->values[graph->FindValue(name)].type.ToString();
  };
  EXPECT_EQ(type("by"), "f32[2, 6]");
  EXPECT_EQ(type("predict.flat"), "f32[3, 4]");
  EXPECT_EQ(type("predict.half"), "f32[3, 4]");
  EXPECT_EQ(type("predict.y"), "f32[N, 3, 4]");
  EXPECT_EQ(type("predict.ids"), "int64[]");
  const auto& parameters = graph->parameters;
  EXPECT_TRUE(parameters.at(graph->FindValue("predict.c.value")).trainable);
  EXPECT_FALSE(parameters.at(graph->FindValue("predict.ids.value")).trainable);
}

TEST(WholeValues, AParameterReadsNothing) {
  Diagnostics diagnostics;
  EXPECT_FALSE(
      Built("cgrun: 1\ninputs: {x: {shape: [2]}}\n"
            "paths: {p: {mode: forward, ops: [{op: parameter, in: x, shape: [2]}]}}\n",
            diagnostics));
  EXPECT_NE(diagnostics.ToString().find("'parameter' reads nothing"), std::string::npos)
      << diagnostics.ToString();
}

TEST(WholeValues, DataCannotFeedAnInputWithoutABatch) {
  Diagnostics diagnostics;
  EXPECT_FALSE(
      Built("cgrun: 1\ndata: {train: {format: synthetic, samples: 4}}\n"
            "inputs: {x: {shape: [2]}, sr: {shape: [], batch: false}}\n"
            "paths: {p: {mode: forward, ops: [{op: mul, in: [x, sr]}]}}\n",
            diagnostics));
  EXPECT_NE(diagnostics.ToString().find("input 'sr' has no batch, so `data` cannot feed it"),
            std::string::npos)
      << diagnostics.ToString();
}

}  // namespace
}  // namespace cgrun
