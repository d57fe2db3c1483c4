// `--set key=value`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/model/tree.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

constexpr char kFile[] =
    "train: {steps: 5, batch: 8}\n"
    "paths:\n"
    "  main:\n"
    "    ops:\n"
    "      - conv1: {op: conv, filters: 20}\n"
    "      - {op: relu}\n"
    "nothing:\n";

std::string After(const std::vector<std::string>& assignments) {
  TreeNode tree = *ParseText(kFile);
  Diagnostics diagnostics;
  for (const std::string& a : assignments) {
    const bool applied = ApplyOverride(tree, a, diagnostics);
    EXPECT_EQ(applied, !diagnostics.has_errors());
  }
  return diagnostics.has_errors() ? diagnostics.ToString() : ToYaml(tree);
}

std::string Expected(const std::string& text) { return ToYaml(*ParseText(text)); }

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = kFile;
  text.replace(text.find(from), from.size(), to);
  return Expected(text);
}

TEST(OverrideTest, ValuesAreUtf8) {
  const std::string error = After({"train.steps=\xFF"});
  EXPECT_NE(error.find("error: the value of --set has a byte that is not UTF-8\nhelp: a terminal"),
            std::string::npos)
      << error;
  EXPECT_EQ(error.find("save the file"), std::string::npos) << error;
}

TEST(OverrideTest, SetsValuesOfAnyKind) {
  EXPECT_EQ(After({"train.batch=16"}), Replaced("batch: 8", "batch: 16"));
  EXPECT_EQ(After({"train.batch=[1, {a: x}]"}), Replaced("batch: 8", "batch: [1, {a: x}]"));
  EXPECT_EQ(After({"train.batch="}), Replaced("batch: 8", "batch: ~"));
  EXPECT_EQ(After({"train.batch='16'"}), Replaced("batch: 8", "batch: '16'"));
  EXPECT_EQ(After({"train.batch=a=b"}), Replaced("batch: 8", "batch: a=b"));
}

TEST(OverrideTest, MakesMissingMaps) {
  EXPECT_EQ(After({"train.clip.norm=1"}), Replaced("batch: 8", "batch: 8, clip: {norm: 1}"));
  EXPECT_EQ(After({"nothing.more=1"}), Replaced("nothing:", "nothing: {more: 1}"));
}

TEST(OverrideTest, StepsIntoListsByIndexOrName) {
  const std::string wanted = Replaced("filters: 20", "filters: 3");
  EXPECT_EQ(After({"paths.main.ops.conv1.filters=3"}), wanted);
  EXPECT_EQ(After({"paths.main.ops.0.conv1.filters=3"}), wanted);
  EXPECT_EQ(After({"paths.main.ops[0].conv1.filters=3"}), wanted);
  EXPECT_EQ(After({"paths.main.ops[1].op=tanh"}), Replaced("relu", "tanh"));
}

// The index of an item leads to its keys, whether it has a name or is the bare name of an operator.
TEST(OverrideTest, StepsIntoItemsOfOpsByIndexAlone) {
  EXPECT_EQ(After({"paths.main.ops[0].filters=3"}), Replaced("filters: 20", "filters: 3"));
  EXPECT_EQ(After({"paths.main.ops[0].op=linear"}), Replaced("op: conv", "op: linear"));
  EXPECT_EQ(After({"paths.main.ops[0].stride=2"}),
            Replaced("filters: 20", "filters: 20, stride: 2"));
  EXPECT_EQ(
      After({"paths.main.ops=[flatten, {y: relu}]", "paths.main.ops[0].axis=2",
             "paths.main.ops[1].lr=3", "paths.main.ops.y.frozen=true"}),
      After({"paths.main.ops=[{op: flatten, axis: 2}, {y: {op: relu, lr: 3, frozen: true}}]"}));
}

TEST(OverrideTest, KeysOfSectionsAreFound) {
  EXPECT_EQ(After({"epochs=3"}),
            "--set epochs=3: error: unknown key 'epochs'\nhelp: write 'train.epochs'\n");
  EXPECT_NE(After({"lr=3"}).find("help: write 'train.optimizer.lr'"), std::string::npos);
  EXPECT_NE(After({"valid.split=0.1"}).find("help: write 'data.valid'"), std::string::npos);
  EXPECT_NE(After({"patience=3"}).find("help: write 'train.early_stop.patience'"),
            std::string::npos);
  EXPECT_EQ(After({"inexact=true"}), Expected(std::string(kFile) + "inexact: true\n"));
}

TEST(OverrideTest, OperatorsWithoutANameAreFoundByTheirIndex) {
  EXPECT_EQ(After({"paths.main.ops.relu.lr=1"}),
            "--set paths.main.ops.relu.lr=1: error: 'paths.main.ops' has no item 'relu'\n"
            "help: that operator has no name here: write 'paths.main.ops[1]'\n");
}

TEST(OverrideTest, ReplacesWhatItExcludes) {
  EXPECT_EQ(After({"train.epochs=2"}),
            Expected("train: {batch: 8, epochs: 2}\n" +
                     std::string(kFile).substr(std::string(kFile).find("paths"))));
  const std::string both = "cgrun: 1\npaths: {p: {mode: forward, ops: []}}\n";
  EXPECT_NE(ModelErrors(both, {"train.epochs=2", "train.steps=3"})
                .find("'steps' and 'epochs' exclude each other"),
            std::string::npos);
}

// A split takes no options: those of the format that it replaces go with it.
TEST(OverrideTest, ReplacesAFormatWithItsOptions) {
  const std::string model =
      "cgrun: 1\npaths: {p: {mode: forward, ops: []}}\ndata:\n"
      "  train: {format: synthetic, samples: 8}\n"
      "  valid: {format: synthetic, samples: 4}\n";
  EXPECT_EQ(ModelErrors(model, {"data.valid.split=0.1"}), "");
  EXPECT_NE(ModelErrors(model, {"data.valid.split=0.1", "data.valid.seed=3"})
                .find("a 'split' has no option 'seed'"),
            std::string::npos);
}

TEST(OverrideTest, ErrorsNameTheFlag) {
  EXPECT_EQ(After({"train.batch"}),
            "--set train.batch: error: this is no assignment\n"
            "help: write KEY=VALUE, such as train.epochs=2\n");
  EXPECT_EQ(After({"train..batch=1"}).substr(0, 22), "--set train..batch=1: ");
  EXPECT_EQ(After({"train.batch.x=1"}),
            "--set train.batch.x=1: error: 'train.batch' is '8', and has no keys\n");
  EXPECT_EQ(After({"paths.main.ops.conv2.filters=1"}),
            "--set paths.main.ops.conv2.filters=1: error: 'paths.main.ops' has no item 'conv2'\n"
            "help: did you mean 'conv1'?\n");
  EXPECT_NE(After({"paths.main.ops.7=1"}).find("has 2 items, counted from 0"), std::string::npos);
  EXPECT_NE(After({"train.batch=[a"}).find("'[' is not closed"), std::string::npos);
  EXPECT_NE(After({"train.batch={a: 1, a: 2}"}).find("duplicate key 'a'"), std::string::npos);
  EXPECT_NE(After({std::string(400, 'a') + ".b=["}).find("error"), std::string::npos);
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_NE(After({deep + "=1"}).find("more than 64 parts"), std::string::npos);
}

// A run must not write a key that no file could hold.
TEST(OverrideTest, RefusesKeysThatAFileCannotHold) {
  EXPECT_NE(After({"paths.\x01.ops=[]"}).find("error: a control character"), std::string::npos);
  EXPECT_NE(After({"paths.\xFF.ops=[]"}).find("error: a byte that is not UTF-8"),
            std::string::npos);
  EXPECT_NE(After({"paths." + std::string(401, 'a') + "=1"}).find("a key has at most 400 bytes"),
            std::string::npos);
  EXPECT_EQ(After({"paths.\xC3\xA4.mode=forward"}).find("error"), std::string::npos);
}

TEST(OverrideTest, ErrorsInTheModelNameTheFlagToo) {
  const std::string text = "cgrun: 1\npaths: {p: {mode: forward, ops: []}}\n";
  EXPECT_EQ(ModelErrors(text, {"train.epcohs=2"}),
            "--set train.epcohs=2: error: unknown key 'epcohs' in 'train'\n"
            "help: did you mean 'epochs'?\n");
  EXPECT_EQ(ModelErrors(text, {"train.epochs=two"}),
            "--set train.epochs=two: error: 'epochs' must be an integer, not 'two'\n");
}

}  // namespace
}  // namespace cgrun
