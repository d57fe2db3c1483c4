// Networks that are unrolled, outputs that have names, and state that steps leave for each other.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr char kHead[] = R"(
cgrun: 1
inputs:
  x: {shape: [2, 3]}
  h: {shape: [4]}
  target: {shape: [2, 4]}
  endless: {shape: [1000000, 2]}
networks:
  cell:
    in: [a, b]
    ops:
      - both: {op: concat, in: [a, b]}
      - {op: linear, units: 4, activation: tanh}
  wide:
    in: [a, b]
    out: [r, b_next, c_next]
    ops:
      - r: {op: linear, in: a, units: 5}
      - b_next: {op: add, in: [b, 1]}
      - c_next: {op: identity, in: b}
  alone: {in: a, ops: [{op: linear, units: 4}]}
  grow:
    in: [a, b]
    ops: [{op: concat, in: [a, b]}]
train: {epochs: 1, optimizer: {op: sgd, lr: 0.1}}
)";

struct Built {
  std::optional<Graph> graph;
  std::string errors;

  const Value& Find(const std::string& name) const { return graph->values[graph->FindValue(name)]; }
};

Built Build(const std::string& text, EntryKind kind = EntryKind::kTrain) {
  Built built;
  Diagnostics diagnostics;
  const auto model = ParseModel({"m.yaml", kHead + text}, {}, diagnostics);
  if (model) built.graph = BuildForward(*model, {kind}, diagnostics);
  built.errors = diagnostics.ToString();
  return built;
}

// A path that learns to give `y`, after these items.
std::string Learn(const std::string& items) {
  return "paths:\n  p:\n    ops:\n" + items + "    loss: {op: squared_error, in: [y, target]}\n";
}

const std::string kUnrolled =
    Learn("      - y: {network: cell, in: [x, h], unroll: 1, out: [y, last]}\n");

void ExpectError(const std::string& text, const std::string& error, const std::string& help = "") {
  const Built built = Build(text);
  EXPECT_FALSE(built.graph) << text;
  EXPECT_NE(built.errors.find(error), std::string::npos) << built.errors;
  EXPECT_NE(built.errors.find(help), std::string::npos) << built.errors;
}

TEST(Unroll, IsTheGraphThatIsWrittenOut) {
  const Built built = Build(kUnrolled);
  const Built written = Build(Learn(R"(
      - s0: {op: slice, in: x, axes: [1], starts: [0], ends: [1]}
      - x0: {op: reshape, shape: [3]}
      - h0: {network: cell, in: [x0, h]}
      - s1: {op: slice, in: x, axes: [1], starts: [1], ends: [2]}
      - x1: {op: reshape, shape: [3]}
      - h1: {network: cell, in: [x1, h0]}
      - y0: {op: reshape, in: h0, shape: [1, 4]}
      - y1: {op: reshape, in: h1, shape: [1, 4]}
      - y: {op: concat, in: [y0, y1], axis: 1}
)"));
  ASSERT_TRUE(built.graph) << built.errors;
  ASSERT_TRUE(written.graph) << written.errors;
  ASSERT_EQ(built.graph->nodes.size(), written.graph->nodes.size());
  for (NodeId id : built.graph->nodes.ids()) {
    const Node &a = built.graph->nodes[id], &b = written.graph->nodes[id];
    EXPECT_EQ(a.op, b.op) << a.name;
    EXPECT_EQ(a.inputs, b.inputs) << a.name;
    EXPECT_EQ(a.outputs, b.outputs) << a.name;
    EXPECT_TRUE(a.attributes == b.attributes) << a.name;
  }
  EXPECT_EQ(built.graph->paths[PathId(0)].trains, written.graph->paths[PathId(0)].trains);
  EXPECT_EQ(VerifyGraph(*built.graph), std::vector<std::string>());
}

TEST(Unroll, AllUsesShareOneSetOfParameters) {
  const Built built = Build(kUnrolled);
  ASSERT_TRUE(built.graph) << built.errors;
  std::vector<std::string> parameters;
  for (const Value& value : built.graph->values) {
    if (value.role == Role::kParameter) parameters.push_back(value.name);
  }
  EXPECT_EQ(parameters, (std::vector<std::string>{"cell.linear[0].weight", "cell.linear[0].bias"}));
  EXPECT_EQ(built.Find("p.y").type.ToString(), "f32[N, 2, 4]");
  EXPECT_TRUE(built.graph->FindValue("p.y[1].linear[0]").valid());
}

TEST(Unroll, FurtherOutputsAreTheLastOnes) {
  const Built built = Build(kUnrolled + "update: {last: h}\n");
  ASSERT_TRUE(built.graph) << built.errors;
  ASSERT_EQ(built.graph->updates.size(), 1u);
  EXPECT_EQ(built.graph->values[built.graph->updates[0].next].name, "p.y[1].linear[0].tanh");
}

TEST(Unroll, WithoutFurtherInputsUsesAreApart) {
  const Built built = Build(Learn("      - y: {network: alone, in: x, unroll: 1}\n"));
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.Find("p.y").type.ToString(), "f32[N, 2, 4]");
}

TEST(Unroll, RefusesWhatDoesNotFit) {
  const auto item = [](const std::string& use) { return Learn("      - y: {" + use + "}\n"); };
  ExpectError(item("network: cell, in: [h, h], unroll: 2"), "'h' is f32[N, 4]: it has no axis 2",
              "axis 0 is the batch");
  ExpectError("paths: {p: {mode: forward, ops: [{network: alone, in: endless, unroll: 1}]}}\n",
              "'endless' is f32[N, 1000000, 2]: axis 1 is too long");
  ExpectError(item("network: cell, in: [x, h], unroll: 0"), "'unroll' must be at least 1");
  ExpectError(item("network: wide, in: [x, h], unroll: 1"),
              "'wide' has 3 outputs and 2 inputs: unrolled", "give it as many outputs as inputs");
  ExpectError(item("network: grow, in: [x, h], unroll: 1"),
              "input 2 of 'grow' is f32[N, 4], but what takes its place is f32[N, 7]",
              "both have the same type");
  ExpectError(item("op: relu, in: x, unroll: 1"), "'unroll' belongs to a network",
              "only `{network: …}` takes it");
  ExpectError(item("op: relu, in: x, out: y"), "'out' belongs to a block or network");
}

TEST(OutputNames, NameTheOutputsInTheirOrder) {
  const Built built = Build(R"(paths:
  p:
    mode: forward
    ops:
      - flat: {op: flatten, in: x}
      - {network: wide, in: [flat, h], out: [five, more, same]}
      - {op: add, in: [more, same]}
update: {p.more: h}
)");
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.graph->values[built.graph->updates[0].next].name, "p.five.b_next");
}

TEST(OutputNames, AreRefusedWhereTheyDoNotFit) {
  const auto forward = [](const std::string& item) {
    return "paths:\n  p:\n    mode: forward\n    ops:\n      - flat: {op: flatten, in: x}\n"
           "      - " +
           item + "\n";
  };
  ExpectError(forward("{network: cell, in: [flat, h], out: [a, b]}"),
              "'cell' has 1 output, and 2 are named");
  ExpectError(forward("y: {network: cell, in: [flat, h], out: [z]}"),
              "the first output has two names: 'y' and 'z'");
  ExpectError(forward("{network: wide, in: [flat, h], out: [a, flat]}"),
              "the name 'flat' is taken");
  ExpectError(forward("{network: wide, in: [flat, h], out: [a, h]}"), "the name 'h' is taken",
              "it is an input");
  ExpectError(forward("{network: wide, in: [flat, h], out: [a, a]}"), "the name 'a' is taken");
}

TEST(RecurrentState, IsStateOfEachKindOfEntryPoint) {
  const std::string model = kUnrolled + "update: {last: h}\n";
  const Built train = Build(model), eval = Build(model, EntryKind::kEval),
              predict = Build(model, EntryKind::kPredict);
  ASSERT_TRUE(train.graph && eval.graph && predict.graph) << train.errors;
  const Value& h = train.Find("h");
  EXPECT_EQ(h.role, Role::kRecurrentState);
  EXPECT_EQ(h.zone, Zone::kForward);
  EXPECT_EQ(h.type.ToString(), "f32[N, 4]");
  EXPECT_EQ(train.graph->parameters.at(train.graph->FindValue("h")).init, "zeros");
  EXPECT_FALSE(train.graph->parameters.at(train.graph->FindValue("h")).trainable);
  EXPECT_EQ(eval.Find(".eval.h").role, Role::kRecurrentState);
  EXPECT_EQ(eval.graph->updates.size(), 1u);
  EXPECT_FALSE(eval.graph->Learns());
  EXPECT_EQ(predict.Find(".predict.h").role, Role::kRecurrentState);
  EXPECT_TRUE(predict.graph->updates.empty());
  for (const Built* built : {&train, &eval, &predict}) {
    EXPECT_EQ(VerifyGraph(*built->graph), std::vector<std::string>());
  }
}

TEST(RecurrentState, TakesAValueOfItsType) {
  ExpectError(kUnrolled + "update: {y: h}\n",
              "'y' is f32[N, 2, 4], but the input 'h' that takes its value is f32[N, 4]",
              "both have the same type from step to step");
  ExpectError(kUnrolled + "update: {lost: h}\n", "there is no value 'lost'");
  ExpectError(kUnrolled + "update: {last: g}\n", "there is no input 'g'");
}

}  // namespace
}  // namespace cgrun
