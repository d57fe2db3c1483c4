#include "tests/session/session_testing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 1065, classes: 4}
  test: {format: synthetic, samples: 230, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 6, 6]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255, mean: 0.5, std: 0.29}
      - conv: {op: conv, filters: 3, kernel: 3, activation: relu}
      - pool: {op: max_pool, kernel: 2}
      - {op: flatten}
      - {op: dropout, rate: 0.2}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  epochs: 2
  batch: 100
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
)";

}  // namespace

ModelSpec ModelOf(const std::string& text, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  auto model = ParseModel({"small.yaml", text}, overrides, diagnostics);
  EXPECT_TRUE(model.has_value() && !diagnostics.has_errors()) << diagnostics.ToString();
  return *model;
}

ModelSpec SmallModel(const std::vector<std::string>& overrides) {
  return ModelOf(kModel, overrides);
}

TrainResult TrainModel(const ModelSpec& model, const SessionOptions& options,
                       const std::string& folder) {
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  return session.Train(folder, silent);
}

PlannedOutcome TrainPlanned(const ModelSpec& model, const SessionOptions& options) {
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  PlannedOutcome outcome;
  if (options.mode == Mode::kGraph) {
    outcome.arena_bytes = session.layout()->arena_bytes;
    for (const ImageInstruction& i : session.program()->image().entries[0].instructions) {
      outcome.kernels.push_back(i.kernel);
      outcome.in_streams += i.stream > 0;
    }
  }
  RunObserver silent;
  outcome.weights_hash = session.Train("", silent).weights_hash;
  return outcome;
}

std::string SessionErrors(const ModelSpec& model, bool train) {
  Diagnostics diagnostics;
  const Session session(model, {}, train, diagnostics);
  EXPECT_NE(session.ready(), diagnostics.has_errors());
  return diagnostics.ToString();
}

std::string FreshFolder() {
  const std::filesystem::path path(testing::TempDir());  // as messages name it
  const std::string folder = (path / testing::UnitTest::GetInstance()->current_test_info()->name())
                                 .lexically_normal()
                                 .string();
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cgrun
