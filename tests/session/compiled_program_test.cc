// Sessions that are given a compiled program: they run it where it fits, and else compile again and
// say why. The weights are the same either way.
#include <gtest/gtest.h>

#include "src/fit/run_shape.h"
#include "src/model/model_file.h"
#include "src/program/serialize.h"
#include "src/session/session.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 65, classes: 3}
  test: {format: synthetic, samples: 40, classes: 3, seed: 9}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train:
  epochs: 2
  batch: 20
  optimizer: {op: sgd, lr: 0.05}
)";

ModelSpec Model(const std::vector<std::string>& overrides = {}) {
  Diagnostics diagnostics;
  auto model = ParseModel({"small.yaml", kModel}, overrides, diagnostics);
  EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
  return *model;
}

ProgramImage CompiledImage(const std::vector<std::string>& overrides = {}) {
  const ModelSpec model = Model(overrides);
  Diagnostics diagnostics;
  const auto compiled = Compile(model, ShapeOfRun(model, diagnostics).entries,
                                *FindKernelLibrary("reference"), {}, diagnostics);
  EXPECT_TRUE(compiled.has_value()) << diagnostics.ToString();
  return compiled->image;
}

// Holds the outcome of a training with a compiled program, or without one if the image is null.
struct Outcome {
  std::string recompiled;
  uint64_t weights = 0;
};

Outcome Train(const ModelSpec& model, const ProgramImage* image, SessionOptions options = {}) {
  options.image = image;
  Diagnostics diagnostics;
  Session session(model, options, /*train=*/true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  return {session.recompiled(), session.Train("", silent).weights_hash};
}

TEST(CompiledProgram, IsRunWhereItFits) {
  const ProgramImage image = CompiledImage();
  const Outcome outcome = Train(Model(), &image);
  EXPECT_EQ(outcome.recompiled, "");
  EXPECT_EQ(outcome.weights, Train(Model(), nullptr).weights);
}

// The program itself must run, and not one that was compiled in secret.
TEST(CompiledProgram, IsTheOneThatRuns) {
  ProgramImage image = CompiledImage();
  image.seed = 77;
  EXPECT_NE(Train(Model(), &image).weights, Train(Model(), nullptr).weights);
}

// Saved and loaded again.
TEST(CompiledProgram, KeepsActivationsInBF16) {
  CompileOptions bf16;
  bf16.bf16_activations = true;
  const ModelSpec model = Model({"train.precision=bf16"});
  Diagnostics diagnostics;
  const auto compiled = Compile(model, ShapeOfRun(model, diagnostics).entries,
                                *FindKernelLibrary("reference"), bf16, diagnostics);
  ASSERT_TRUE(compiled.has_value()) << diagnostics.ToString();
  const ProgramImage loaded = DeserializeImage(SerializeImage(compiled->image), "small.cgb");
  SessionOptions options;
  options.compile = bf16;
  const Outcome outcome = Train(model, &loaded, options);
  EXPECT_EQ(outcome.recompiled, "");
  EXPECT_EQ(outcome.weights, Train(model, nullptr, options).weights);
  EXPECT_NE(outcome.weights, Train(Model(), nullptr).weights);
}

TEST(CompiledProgram, LengthOfTheRunMayChange) {
  const ProgramImage image = CompiledImage();
  EXPECT_EQ(Train(Model({"train.epochs=1"}), &image).recompiled, "");
}

// The folder of a swap file is no part of a program, which may go to another machine.
TEST(CompiledProgram, HoldsNoFolderOfASwapFile) {
  const ProgramImage image = CompiledImage({"train.swap=/a/disk"});
  EXPECT_EQ(image.model_text.find("swap"), std::string::npos) << image.model_text;
  EXPECT_EQ(image.model_text, CompiledImage().model_text);
  EXPECT_EQ(Train(Model({"train.swap=/another/disk"}), &image).recompiled, "");
  SessionOptions options;
  options.compile.swap = SwapFolder{testing::TempDir(), {2e9, 2e9}};
  EXPECT_EQ(Train(Model(), &image, options).recompiled,
            "it swaps nothing to a file, and there is a folder for one");
}

TEST(CompiledProgram, OtherLibrariesCompileAgain) {
  ProgramImage image = CompiledImage();
  image.fingerprint = "reference 0";
  const Outcome outcome = Train(Model(), &image);
  EXPECT_EQ(outcome.recompiled,
            "it was compiled for reference 0; this run has reference 1, 1 thread");
  EXPECT_EQ(outcome.weights, Train(Model(), nullptr).weights);
  image = CompiledImage();
  image.device = "cuda";
  EXPECT_EQ(Train(Model(), &image).recompiled,
            "it was compiled for cuda; this run is on reference");
}

TEST(CompiledProgram, OtherSettingsCompileAgain) {
  const ProgramImage image = CompiledImage();
  const std::string why = "the settings are not those that it was compiled with";
  for (const char* setting :
       {"train.batch=10", "train.seed=3", "train.optimizer.lr=0.1", "train.order=serial",
        "zones=separate", "train.precision=f64", "paths.classify.ops[2].logits.init=he_normal"}) {
    const Outcome outcome = Train(Model({setting}), &image);
    EXPECT_EQ(outcome.recompiled, why) << setting;
  }
  SessionOptions naive, no_pass;
  naive.compile.layout.planner = "naive";
  no_pass.compile.passes.disabled = {"dead_code"};
  EXPECT_EQ(Train(Model(), &image, naive).recompiled, why);
  EXPECT_EQ(Train(Model(), &image, no_pass).recompiled, why);
}

// Other data of the same shape is no other program, unless the last batch is of another size.
TEST(CompiledProgram, OtherBatchSizesCompileAgain) {
  const ProgramImage image = CompiledImage();
  EXPECT_EQ(Train(Model({"data.train.samples=45"}), &image).recompiled, "");
  EXPECT_EQ(Train(Model({"data.train.samples=47"}), &image).recompiled,
            "it has no entry point for these batch sizes");
}

TEST(CompiledProgram, UnsoundOnesAreRefused) {
  ProgramImage image = CompiledImage();
  image.entries[0].instructions[0].operands[0].operand.offset += 4;
  Diagnostics diagnostics;
  SessionOptions options;
  options.image = &image;
  const ModelSpec model = Model();
  try {
    const Session session(model, options, /*train=*/true, diagnostics);
    FAIL() << "it runs";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("small.yaml: the program is not sound: train: ", 0),
              0u)
        << error.what();
  }
}

}  // namespace
}  // namespace cgrun
