// Paths that `train: {sequence: …}` leaves out: what is wrong with them is told, what they would
// compute is missed by name, and training has nothing of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

using Messages = std::vector<std::string>;

struct Built {
  std::optional<Graph> graph;
  Messages messages;
  std::string text;
};

// As `cgrun check` does, with the front end looking at what could be read of a file with errors.
Built Build(const std::string& text, EntryKind kind = EntryKind::kTrain) {
  Built built;
  Diagnostics diagnostics;
  ModelSpec partial;
  const auto model = ParseModel({"m.yaml", text}, {}, diagnostics, {}, &partial);
  Kept kept;
  built.graph = BuildForward(model ? *model : partial, {kind}, diagnostics, &kept);
  for (const Diagnostic& error : diagnostics.Sorted()) built.messages.push_back(error.message);
  built.text = diagnostics.ToString();
  return built;
}

// Two paths that have nothing to do with each other.
std::string Two(const std::string& second, const std::string& sequence) {
  return "cgrun: 1\n"
         "inputs: {x: {shape: [3]}, y: {shape: [2]}}\n"
         "paths:\n"
         "  a:\n"
         "    ops: [{h: {op: linear, in: x, units: 2}}]\n"
         "    loss: {op: squared_error, in: [h, y]}\n"
         "  b:\n" +
         second + "train: {epochs: 1, sequence: " + sequence + ", optimizer: {op: sgd, lr: 0.1}}\n";
}

const std::string kGood =
    "    ops: [{h: {op: linear, in: x, units: 2}}]\n"
    "    loss: {op: squared_error, in: [h, y]}\n";
const std::string kBad =
    "    optimizer: {op: adamm, lr: 0.1}\n"
    "    ops: [{h: {op: linear, in: x, unit: 2}}, {g: {op: linear, in: z, units: 3}}]\n"
    "    loss: {op: squared_error, in: [h, g, y]}\n"
    "    metrics: {acuracy: {in: [h, y]}}\n";
const Messages kMistakes = {"there is no optimizer 'adamm'", "'linear' has no key 'unit'",
                            "there is no value 'z' before this place",
                            "there is no metric 'acuracy'"};

TEST(LeftOut, TheirErrorsAreThoseOfPathsThatRun) {
  EXPECT_EQ(Build(Two(kBad, "[a, b]")).messages, kMistakes);
  EXPECT_EQ(Build(Two(kBad, "[a]")).messages, kMistakes);
  EXPECT_EQ(Build(Two(kBad, "[{a: 3}]")).messages, kMistakes);
}

TEST(LeftOut, AMistakeInTheSequenceHidesNoOther) {
  Messages more = kMistakes;
  more.push_back("there is no path 'c'");
  EXPECT_EQ(Build(Two(kBad, "[a, c]")).messages, more);
  more.back() = "'b' must be at least 1, not '0'";
  EXPECT_EQ(Build(Two(kBad, "[a, {b: 0}]")).messages, more);
  more.back() = "'sequence' names no path";
  EXPECT_EQ(Build(Two(kBad, "[]")).messages, more);
}

TEST(LeftOut, NothingOfThemRuns) {
  const Built one = Build(Two(kGood, "[a]")), both = Build(Two(kGood, "[a, b]"));
  ASSERT_TRUE(one.graph && both.graph) << one.text << both.text;
  EXPECT_EQ(one.graph->paths.size(), 1u);
  EXPECT_EQ(one.graph->outputs.size(), 1u);
  EXPECT_EQ(one.graph->nodes.size() * 2, both.graph->nodes.size());
  EXPECT_FALSE(one.graph->FindValue("b.h.weight").valid());
  EXPECT_TRUE(both.graph->FindValue("b.h.weight").valid());
  EXPECT_EQ(VerifyGraph(*one.graph), Messages());
  const Built evaluation = Build(Two(kGood, "[a]"), EntryKind::kEval);
  ASSERT_TRUE(evaluation.graph) << evaluation.text;
  EXPECT_EQ(evaluation.graph->paths.size(), 2u);
}

// `pre` and `step` do not read each other, whatever `update` does.
std::string Carried(const std::string& sequence, const std::string& more = "") {
  return "cgrun: 1\n"
         "inputs: {x: {shape: [3]}, y: {shape: [2]}, h: {shape: [2]}}\n"
         "paths:\n"
         "  pre:\n"
         "    mode: forward\n"
         "    ops: [{both: {op: concat, in: [x, h]}}]\n"
         "  step:\n"
         "    ops: [{h_next: {op: linear, in: both, units: 2, activation: tanh}}]\n"
         "    loss: {op: squared_error, in: [h_next, y]}\n"
         "update: {h_next: h}\n"
         "train: {epochs: 1, sequence: " +
         sequence + ", optimizer: {op: sgd, lr: 0.1}}\n" + more;
}

TEST(LeftOut, WhatReadsThemIsToldWhichPathIsMissing) {
  const Built update = Build(Carried("[pre]"));
  EXPECT_EQ(update.messages, (Messages{"path 'step' is left out of `train.sequence`, so nothing "
                                       "computes 'h_next'"}));
  EXPECT_NE(update.text.find("help: name 'step' there, too\n"), std::string::npos) << update.text;

  const Built op = Build(Carried("[step]"));
  EXPECT_EQ(op.messages, (Messages{"path 'pre' is left out of `train.sequence`, so nothing "
                                   "computes 'both'"}));
  EXPECT_NE(op.text.find("help: name 'pre' there, too, before 'step'\n"), std::string::npos);

  EXPECT_EQ(Build(Two(kGood, "[a]") + "keep: b.h\n").messages,
            (Messages{"path 'b' is left out of `train.sequence`, so nothing computes 'b.h'"}));
  EXPECT_EQ(Build(Carried("[pre, step]")).messages, Messages());
  EXPECT_EQ(Build(Carried("[step, pre]")).messages,
            (Messages{"there is no value 'both' before this place"}));
}

// The name that no path has may be the one that is missing.
TEST(LeftOut, AMisspeltPathIsOneMistake) {
  EXPECT_EQ(Build(Carried("[pre, stepp]")).messages, (Messages{"there is no path 'stepp'"}));
  EXPECT_EQ(Build(Carried("[pree, step]")).messages, (Messages{"there is no path 'pree'"}));
  EXPECT_EQ(Build(Carried("[pre, {step: 0}]")).messages,
            (Messages{"'step' must be at least 1, not '0'"}));
  EXPECT_EQ(Build(Carried("pre")).messages, (Messages{"'sequence' must be a list, not 'pre'"}));
}

}  // namespace
}  // namespace cgrun
