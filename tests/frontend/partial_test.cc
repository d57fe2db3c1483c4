// Files with errors of several kinds: all are reported at once, and nothing that only follows from
// another error.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

const std::string kModel =
    "cgrun: 1\n"
    "inputs:\n"
    "  x: {shape: [4]}\n"
    "  y: {type: int32, shape: []}\n"
    "blocks:\n"
    "  unit: {params: {n: null}, in: a, ops: [{op: linear, units: \"${n}\"}]}\n"
    "networks:\n"
    "  trunk: {in: a, ops: [{op: linear, units: 4}]}\n"
    "paths:\n"
    "  p:\n"
    "    ops:\n"
    "      - first: {op: linear, in: x, units: 8}\n"
    "      - {block: unit, with: {n: 4}}\n"
    "      - {network: trunk}\n"
    "      - last: {op: linear, units: 3}\n"
    "    loss: {op: softmax_cross_entropy, in: [last, y]}\n"
    "    metrics: {accuracy: {in: [last, y]}}\n"
    "train:\n"
    "  epochs: 1\n"
    "  optimizer: {op: sgd, lr: 0.1}\n";

// The messages, in the order of their lines, after reading as far as that is possible.
std::vector<std::string> MessagesOf(const std::string& text) {
  Diagnostics diagnostics;
  ModelSpec partial;
  const auto model = ParseModel({"m.yaml", text}, {}, diagnostics, {}, &partial);
  if (model || partial.tree.IsMap()) {
    BuildForward(model ? *model : partial, {EntryKind::kTrain}, diagnostics);
  }
  std::vector<std::string> messages;
  for (const Diagnostic& error : diagnostics.Sorted()) messages.push_back(error.message);
  return messages;
}

// Returns the messages for kModel, in which each pair's first text is replaced by its second.
std::vector<std::string> MessagesWith(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = kModel;
  for (const auto& [from, to] : changes) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return MessagesOf(text);
}

using Messages = std::vector<std::string>;

TEST(PartialTest, TheModelIsGood) { EXPECT_EQ(MessagesOf(kModel), Messages()); }

TEST(PartialTest, AnUnknownKeyHidesNoErrorOfAnotherSection) {
  EXPECT_EQ(MessagesWith({{"epochs: 1", "epoch: 1"},
                          {"in: x, units: 8", "in: z, units: 8"},
                          {"op: sgd", "op: sdg"},
                          {"accuracy:", "acuracy:"}}),
            (Messages{"there is no value 'z' before this place", "there is no metric 'acuracy'",
                      "unknown key 'epoch' in 'train'", "there is no optimizer 'sdg'"}));
}

TEST(PartialTest, AnItemWithoutAFormHidesNoErrorOfAnother) {
  EXPECT_EQ(MessagesWith({{"first: {op: linear, in: x, units: 8}", "first: {units: 8}"},
                          {"last: {op: linear, units: 3}", "last: {op: linear, unit: 3}"}}),
            (Messages{"'first' has no 'op', 'block' or 'network'", "'linear' has no key 'unit'"}));
}

// A misspelt key must not also count as missing.
TEST(PartialTest, AMisspeltKeyIsOneMistake) {
  const auto misspelt = [](const std::string& keys) {
    return MessagesWith({{"last: {op: linear, units: 3}", "last: {op: linear, " + keys + "}"}});
  };
  EXPECT_EQ(misspelt("out_features: 3"), (Messages{"'linear' has no key 'out_features'"}));
  EXPECT_EQ(misspelt("colour: 3"),
            (Messages{"'linear' needs 'units'", "'linear' has no key 'colour'"}));
}

TEST(PartialTest, ABadKeyHidesNoOtherOfItsOperator) {
  EXPECT_EQ(
      MessagesWith({{"in: x, units: 8", "in: 1x, units: -8, init: he_norml"}}),
      (Messages{"'in' must be a name or a number, not '1x'", "'units' must be at least 1, not '-8'",
                "there is no initialiser 'he_norml'"}));
}

TEST(PartialTest, MetricsInAListAreLookedAtToo) {
  EXPECT_EQ(MessagesWith({{"{accuracy: {in: [last, y]}}", "[acc]"}}),
            (Messages{"'metrics' must be a map, not a list", "there is no metric 'acc'"}));
  EXPECT_EQ(MessagesWith({{"{accuracy: {in: [last, y]}}", "[accuracy]"}}),
            (Messages{"'metrics' must be a map, not a list"}));
}

TEST(PartialTest, DuplicateKeysHideNothing) {
  EXPECT_EQ(MessagesWith({{"epochs: 1", "epochs: 1\n  epochs: 2"}, {"op: sgd", "op: sdg"}}),
            (Messages{"duplicate key 'epochs'", "there is no optimizer 'sdg'"}));
}

TEST(PartialTest, ABlockThatCannotBeMadeHidesNoErrorBehindIt) {
  EXPECT_EQ(MessagesWith({{"with: {n: 4}", "with: {m: 4}"}, {"units: 3", "units: 0"}}).size(), 3u);
  EXPECT_EQ(MessagesWith({{"block: unit", "block: unti"}, {"units: 3", "units: 0"}}),
            (Messages{"there is no block 'unti'", "'units' must be at least 1, not '0'"}));
}

TEST(PartialTest, NothingFollowsFromAnotherError) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"inputs:", "input:"},
      {"paths:", "path:"},
      {"x: {shape: [4]}", "x: {shape: 4}"},
      {"x: {shape: [4]}", "x: 4"},
      {"- first: {op: linear, in: x, units: 8}", "- first: {in: x, units: 8}"},
      {"- first: {op: linear, in: x, units: 8}", "- first: {op: linear, in: x, units: 8, if: 3}"},
      {"block: unit", "block: unti"},
      {"network: trunk", "network: trnk"},
      {"trunk: {in: a,", "trunk: {in: [a, b],"},
      {"loss: {op: softmax_cross_entropy, in: [last, y]}", "loss: {in: [last, y]}"},
      {"metrics: {accuracy: {in: [last, y]}}", "metrics: {accuracy: [last, y]}"},
      {"optimizer: {op: sgd, lr: 0.1}", "optimizer: {lr: 0.1}"},
      {"optimizer: {op: sgd, lr: 0.1}", "optimizer: []"},
      {"  optimizer: {op: sgd, lr: 0.1}\n", ""},
      {"- {network: trunk}", "- trunk: {network: trunk, frozen: true}"},
      {"trunk: {in: a, ops: [{op: linear, units: 4}]}", "trunk: {in: a, ops: [{network: trunk}]}"},
  };
  for (const auto& mistake : mistakes) {
    const std::vector<std::string> messages = MessagesWith({mistake});
    size_t least = 1;
    if (mistake.second == "path:") least = 2;  // and 'paths' is missed
    EXPECT_EQ(messages.size(), least)
        << mistake.second << ": " << (messages.empty() ? "" : messages.back());
  }
}

TEST(PartialTest, WhatIsInsideOfABrokenUseIsNotMissed) {
  EXPECT_EQ(MessagesWith({{"- {block: unit, with: {n: 4}}", "- stage: {block: unit, with: {m: 4}}"},
                          {"last: {op: linear,", "last: {op: linear, in: p.stage.linear,"}})
                .size(),
            2u);  // the parameter that there is not, and the one that is missing
}

std::string ReadModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The front end takes whatever reading leaves of a file with a line, or a part of one, too few.
TEST(PartialTest, NoPartOfAModelCrashesTheFrontEnd) {
  for (const std::string& good :
       {kModel, ReadModel("models/lenet.yaml"), ReadModel("models/resnet18.yaml")}) {
    ASSERT_GT(good.size(), 100u);
    size_t wrong = 0;
    for (size_t begin = 0; begin < good.size();) {
      const size_t end = good.find('\n', begin) + 1;
      const std::string rest = good.substr(end);
      wrong += !MessagesOf(good.substr(0, begin) + rest).empty();
      for (const char* separator : {": ", "[", ", ", "{"}) {
        const size_t at = good.find(separator, begin);
        if (at >= end) continue;
        wrong += !MessagesOf(good.substr(0, at) + "\n" + rest).empty();
        wrong += !MessagesOf(good.substr(0, at) + "x: 1, " + good.substr(at)).empty();
      }
      begin = end;
    }
    EXPECT_GT(wrong, 20u);
  }
}

// Found by model_fuzz: their parameters have one name and two shapes.
TEST(PartialTest, OperatorsOfOneNameAreReportedOnce) {
  const std::vector<std::string> messages =
      MessagesWith({{"- last: {op: linear, units: 3}",
                     "- first: {op: linear, units: 5}\n      - last: {op: linear, units: 3}"}});
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("first"), std::string::npos) << messages[0];
}

}  // namespace
}  // namespace cgrun
