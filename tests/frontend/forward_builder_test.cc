// From model files to forward graphs: which names an operator sees, who owns parameters, which
// paths learn what.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "src/ops/random_flip.h"

namespace cgrun {
namespace {

constexpr char kHead[] = R"(
cgrun: 1
inputs:
  image: {type: f32, shape: [4]}
  label: {type: int32, shape: []}
train: {epochs: 1, optimizer: {op: sgd, lr: 0.1}}
)";

struct Built {
  std::optional<Graph> graph;
  std::string errors;

  // Names of the parameters that a path trains.
  std::vector<std::string> Trains(int path) const {
    std::vector<std::string> names;
    for (ValueId id : graph->paths[PathId(path)].trains) names.push_back(graph->values[id].name);
    return names;
  }
  std::string TypeOf(const std::string& value) const {
    return graph->values[graph->FindValue(value)].type.ToString();
  }
  std::vector<std::string> InputsOf(const std::string& node) const {
    std::vector<std::string> names;
    for (const Node& n : graph->nodes) {
      if (n.name != node) continue;
      for (ValueId input : n.inputs) names.push_back(graph->values[input].name);
    }
    return names;
  }
};

Built Build(const std::string& text, EntryKind kind = EntryKind::kTrain) {
  Built built;
  Diagnostics diagnostics;
  const auto model = ParseModel({"m.yaml", kHead + text}, {}, diagnostics);
  if (model) built.graph = BuildForward(*model, {kind}, diagnostics);
  built.errors = diagnostics.ToString();
  return built;
}

using Strings = std::vector<std::string>;

TEST(ForwardBuilder, PathsMayGiveOutputsTheSameName) {
  const Built built = Build(R"(
paths:
  a:
    ops: [{logits: {op: linear, in: image, units: 3}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
  b:
    ops: [{logits: {op: linear, in: image, units: 5}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
)");
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.InputsOf("a.loss"), (Strings{"a.logits", "label"}));
  EXPECT_EQ(built.InputsOf("b.loss"), (Strings{"b.logits", "label"}));
  EXPECT_EQ(built.InputsOf("b.accuracy"), (Strings{"b.logits", "label"}));
}

std::string LossOf(const std::string& last, const std::string& loss) {
  return "\npaths:\n  a:\n    ops:\n      - h: {op: linear, in: image, units: 3}\n      - p: " +
         last + "\n    loss: " + loss + "\n";
}

TEST(ForwardBuilder, ALossOfLogitsThatReadsProbabilitiesIsWarnedOf) {
  const std::string loss = "{op: softmax_cross_entropy, in: [p, label]}";
  const Built twice = Build(LossOf("softmax", loss));
  EXPECT_TRUE(twice.graph);
  EXPECT_NE(twice.errors.find("warning: 'softmax_cross_entropy' applies softmax itself: here it is "
                              "applied twice"),
            std::string::npos)
      << twice.errors;
  EXPECT_EQ(Build(LossOf("relu", loss)).errors, "");
  EXPECT_EQ(Build(LossOf("softmax", "{op: softmax_cross_entropy, in: [h, label]}")).errors, "");
  const std::string binary = "{op: binary_cross_entropy, in: [p, h]";
  EXPECT_NE(Build(LossOf("sigmoid", binary + "}")).errors.find("`from_logits: false`"),
            std::string::npos);
  EXPECT_EQ(Build(LossOf("sigmoid", binary + ", from_logits: false}")).errors, "");
}

TEST(ForwardBuilder, ANameThatTwoOtherPathsHaveMustBeQualified) {
  const std::string two = R"(
paths:
  a: {mode: forward, ops: [{h: {op: linear, in: image, units: 3}}]}
  b: {mode: forward, ops: [{h: {op: linear, in: image, units: 5}}]}
)";
  const Built wrong = Build(two + "  c: {mode: forward, ops: [{op: relu, in: h}]}\n");
  EXPECT_FALSE(wrong.graph);
  EXPECT_NE(wrong.errors.find("two paths have a value 'h'"), std::string::npos) << wrong.errors;
  EXPECT_NE(wrong.errors.find("write 'a.h' or 'b.h'"), std::string::npos) << wrong.errors;
  const Built right = Build(two + "  c: {mode: forward, ops: [{op: relu, in: b.h}]}\n");
  ASSERT_TRUE(right.graph) << right.errors;
  EXPECT_EQ(right.InputsOf("c.relu[0]"), Strings{"b.h"});
}

TEST(ForwardBuilder, BodiesSeeNothingFromOutside) {
  const Built network = Build(R"(
networks:
  n: {in: x, ops: [{op: add, in: [x, image]}]}
paths:
  p: {mode: forward, ops: [{network: n, in: image}]}
)");
  EXPECT_FALSE(network.graph);
  EXPECT_NE(network.errors.find("there is no value 'image'"), std::string::npos) << network.errors;
  const Built block = Build(R"(
blocks:
  b: {in: x, ops: [{op: add, in: [x, outer]}]}
paths:
  p: {mode: forward, ops: [{outer: {op: relu, in: image}}, {block: b, in: outer}]}
)");
  EXPECT_FALSE(block.graph);
  EXPECT_NE(block.errors.find("there is no value 'outer'"), std::string::npos) << block.errors;
  EXPECT_NE(block.errors.find("in block 'b', used in"), std::string::npos) << block.errors;
}

TEST(ForwardBuilder, UsesOfANetworkShareItsParametersAndItsUsersTrainThem) {
  const Built built = Build(R"(
networks:
  inner: {in: x, ops: [{fc: {op: linear, units: 4}}]}
  outer: {in: x, ops: [{network: inner}, {network: inner}, {last: {op: linear, units: 3}}]}
paths:
  all:
    ops: [{logits: {network: outer, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
  some:
    ops: [{logits: {network: outer, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    trains: outer
  few:
    ops: [{logits: {network: outer, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    trains: inner
)");
  ASSERT_TRUE(built.graph) << built.errors;
  const Strings inner = {"inner.fc.weight", "inner.fc.bias"};
  const Strings outer = {"inner.fc.weight", "inner.fc.bias", "outer.last.weight",
                         "outer.last.bias"};
  EXPECT_EQ(built.Trains(0), outer);
  EXPECT_EQ(built.Trains(1), outer) << "with the networks inside it";
  EXPECT_EQ(built.Trains(2), inner);
}

TEST(ForwardBuilder, WhatALossDoesNotDependOnIsNotTrained) {
  constexpr char kModel[] = R"(
networks:
  used: {in: x, ops: [{fc: {op: linear, units: 3}}]}
  other: {in: x, ops: [{fc: {op: linear, units: 3}}]}
  nowhere: {in: x, ops: [{fc: {op: linear, units: 3}}]}
paths:
  first:
    ops: [{logits: {network: other, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
  second:
    ops: [{logits: {network: used, in: image}}]
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    trains: [used, other, nowhere]
  third:
    ops: [{scores: {op: relu, in: first.logits}}]
    loss: {op: softmax_cross_entropy, in: [scores, label]}
    trains: other
)";
  const Built built = Build(kModel);
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.Trains(1), (Strings{"used.fc.weight", "used.fc.bias"}));
  EXPECT_EQ(built.Trains(2), (Strings{"other.fc.weight", "other.fc.bias"})) << "of another path";
  for (const char* name : {"other", "nowhere"}) {
    EXPECT_NE(built.errors.find("warning: path 'second' trains '" + std::string(name) +
                                "', but its loss does not depend on it"),
              std::string::npos)
        << built.errors;
  }
  EXPECT_EQ(built.errors.find("trains 'used'"), std::string::npos) << built.errors;
  EXPECT_EQ(built.errors.find("path 'third'"), std::string::npos) << built.errors;
  EXPECT_EQ(Build(kModel, EntryKind::kEval).errors, "") << "nothing is trained";
}

// The key follows the name alone; the shape has the batch axis in front, the type is the run's.
TEST(ForwardBuilder, RandomNumbersReadTheStepAlone) {
  const Built built = Build(R"(
paths:
  g:
    mode: forward
    ops:
      - z: {op: random_normal, shape: [64]}
      - {op: relu}
      - other: {op: random_uniform, shape: [2, 3], low: -1, dtype: f64}
)",
                            EntryKind::kPredict);
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.InputsOf("g.z"), Strings{".step"});
  EXPECT_EQ(built.InputsOf("g.relu[0]"), Strings{"g.z"});
  EXPECT_EQ(built.InputsOf("g.other"), Strings{".step"});
  EXPECT_EQ(built.TypeOf("g.z"), "f32[N, 64]");
  EXPECT_EQ(built.TypeOf("g.other"), "f64[N, 2, 3]");
  const auto key = [&](int node) {
    const Attributes& attributes = built.graph->nodes[NodeId(node)].attributes;
    return attributes.Get(*attributes.schema().Find("key"));
  };
  EXPECT_NE(key(0), AttributeValue(int64_t{0}));
  EXPECT_NE(key(0), key(2));
  const Built wrong =
      Build("\npaths:\n  g: {mode: forward, ops: [{op: random_normal, in: image, shape: [2]}]}\n");
  EXPECT_FALSE(wrong.graph);
  EXPECT_NE(wrong.errors.find("'random_normal' reads nothing"), std::string::npos) << wrong.errors;
}

// A number has the type of the first value that is not bool. If there is none, it has the run's
// precision.
TEST(ForwardBuilder, NumbersAreConstantsOfTheOtherInputsType) {
  const Built built = Build(R"(
paths:
  p:
    mode: forward
    ops:
      - square: {op: pow, in: [image, 2]}
      - half: {op: mul, in: [1/2, square]}
      - more: {op: add, in: [half, 2]}
      - first: {op: compare, is: less, in: [label, 2]}
      - {op: where, in: [first, 1.5, -1.5]}
)",
                            EntryKind::kPredict);
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.InputsOf("p.square"), (Strings{"image", "f32(2)"}));
  EXPECT_EQ(built.InputsOf("p.half"), (Strings{"f32(1/2)", "p.square"}));
  EXPECT_EQ(built.InputsOf("p.more"), (Strings{"p.half", "f32(2)"}));
  EXPECT_EQ(built.InputsOf("p.first"), (Strings{"label", "int32(2)"}));
  EXPECT_EQ(built.InputsOf("p.where[0]"), (Strings{"p.first", "f32(1.5)", "f32(-1.5)"}));
  EXPECT_EQ(built.TypeOf("f32(1/2)"), "f32[]");
  const HostTensor& half = built.graph->constants.at(built.graph->FindValue("f32(1/2)"));
  EXPECT_EQ(half.At(0), 0.5);
}

TEST(ForwardBuilder, NumbersThatHaveNoPlaceAreRefused) {
  const std::string fraction = Build(R"(
paths: {p: {mode: forward, ops: [{op: compare, is: less, in: [label, 0.5]}]}}
)")
                                   .errors;
  EXPECT_NE(fraction.find("the number 0.5 is no int32"), std::string::npos) << fraction;
  const std::string block = Build(R"(
blocks: {b: {in: [x, y], ops: [{op: add, in: [x, y]}]}}
paths: {p: {mode: forward, ops: [{block: b, in: [image, 2]}]}}
)")
                                .errors;
  EXPECT_NE(block.find("only operators read numbers"), std::string::npos) << block;
  const std::string quoted =
      Build("\npaths: {p: {mode: forward, ops: [{op: add, in: [image, \"2\"]}]}}\n").errors;
  EXPECT_NE(quoted.find("'in' must be a name or a number, not '2'"), std::string::npos) << quoted;
}

// Paths of mode `forward` too: there images are prepared.
TEST(ForwardBuilder, SamplesVaryInTrainingAlone) {
  constexpr char kPath[] = R"(
paths:
  p:
    mode: forward
    ops: [{op: reshape, in: image, shape: [2, 2]}, {op: random_flip, axes: [1]}]
)";
  for (const EntryKind kind : {EntryKind::kTrain, EntryKind::kEval, EntryKind::kPredict}) {
    const Built built = Build(kPath, kind);
    ASSERT_TRUE(built.graph) << built.errors;
    const Attributes& attributes = built.graph->nodes[NodeId(1)].attributes;
    EXPECT_EQ(attributes.As<RandomFlipAttributes>().varied, kind == EntryKind::kTrain);
    EXPECT_NE(attributes.As<RandomFlipAttributes>().key, 0);
    EXPECT_EQ(built.InputsOf("p.random_flip[0]"), (Strings{"p.reshape[0]", ".step"}));
  }
}

TEST(ForwardBuilder, NamesOfOtherFrameworksLeadToOurs) {
  const std::string errors = Build(R"(
paths:
  p:
    ops: [{op: dense, in: image, units: 3}, {op: abs, activation: lrelu}]
    loss: {op: bce, in: [image, image]}
)")
                                 .errors;
  EXPECT_NE(errors.find("write 'linear'"), std::string::npos) << errors;
  EXPECT_NE(errors.find("write 'leaky_relu'"), std::string::npos) << errors;
  EXPECT_NE(errors.find("write 'binary_cross_entropy'"), std::string::npos) << errors;
}

TEST(ForwardBuilder, NetworksDoNotMultiplyWithoutLimit) {
  std::string text = "networks:\n  n0: {in: x, ops: [relu]}\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = "{network: n" + std::to_string(i - 1) + "}";
    text += "  n" + std::to_string(i) + ": {in: x, ops: [" + inner + ", " + inner + "]}\n";
  }
  const Built built =
      Build(text + "paths:\n  p: {mode: forward, ops: [{network: n40, in: image}]}\n");
  EXPECT_FALSE(built.graph);
  EXPECT_NE(built.errors.find("more than 100000 operators come out"), std::string::npos)
      << built.errors.substr(0, 1000);
  EXPECT_LT(built.errors.size(), 1000u) << "said once";
}

TEST(ForwardBuilder, PredictionsAreWhatOutNamesInItsPath) {
  const std::string two = R"(
paths:
  a: {mode: forward, ops: [{h: {op: linear, in: image, units: 3}}], out: h}
  b: {mode: forward, ops: [{h: {op: linear, in: image, units: 5}}], out: h}
)";
  const Built built = Build(two, EntryKind::kPredict);
  ASSERT_TRUE(built.graph) << built.errors;
  ASSERT_EQ(built.graph->outputs.size(), 2u);
  EXPECT_EQ(built.graph->values[built.graph->outputs[0].value].name, "a.h");
  EXPECT_EQ(built.graph->values[built.graph->outputs[1].value].name, "b.h");
}

TEST(ForwardBuilder, FrozenOperatorsAreNotTrained) {
  const Built built = Build(R"(
paths:
  p:
    ops:
      - {op: linear, in: image, units: 4, frozen: true}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
)");
  ASSERT_TRUE(built.graph) << built.errors;
  EXPECT_EQ(built.Trains(0), (Strings{"p.logits.weight", "p.logits.bias"}));
}

constexpr char kMasked[] = R"(
cgrun: 1
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  mask: {type: int32, shape: [8, 8]}
  small: {type: int32, shape: [7, 8]}
paths:
  p:
    mode: forward
    ops:
      - flipped: {op: random_flip, in: image, axes: [-1], probability: 0.25}
      - part: {op: random_crop, size: [4, 6]}
      - plain: {op: flip, in: image, axes: [-1]}
)";

Built BuildMasked(const std::string& items) {
  Built built;
  Diagnostics diagnostics;
  const auto model = ParseModel({"m.yaml", kMasked + items}, {}, diagnostics);
  if (model) built.graph = BuildForward(*model, {EntryKind::kTrain}, diagnostics);
  built.errors = diagnostics.ToString();
  return built;
}

std::string MaskedError(const std::string& item) {
  const std::string errors = BuildMasked("      - " + item + "\n").errors;
  return errors.substr(0, errors.find('\n'));
}

TEST(ForwardBuilder, AMaskDrawsWhatItsImageDraws) {
  const Built built = BuildMasked(R"(
      - own: {op: random_flip, in: mask, axes: [-1], probability: 0.25}
      - same: {op: random_flip, in: mask, axes: [1, 2], probability: 0.25, draws_as: flipped}
      - again: {op: random_flip, in: mask, axes: [-1], probability: 0.25, draws_as: same}
      - same_part: {op: random_crop, in: mask, size: [4, 6], draws_as: part}
)");
  ASSERT_TRUE(built.graph) << built.errors;
  const auto key = [&](const std::string& name) {
    for (const Node& node : built.graph->nodes) {
      if (node.name != "p." + name) continue;
      return std::get<int64_t>(node.attributes.Get(*node.attributes.schema().Find("key")));
    }
    ADD_FAILURE() << name;
    return int64_t{0};
  };
  EXPECT_NE(key("flipped"), key("own"));
  EXPECT_NE(key("flipped"), key("part"));
  EXPECT_EQ(key("flipped"), key("same"));
  EXPECT_EQ(key("flipped"), key("again"));
  EXPECT_EQ(key("part"), key("same_part"));
}

TEST(ForwardBuilder, AnotherDrawIsNotShared) {
  EXPECT_EQ(MaskedError("{op: random_flip, in: mask, axes: [-1], draws_as: flipt}"),
            "m.yaml:14:59: error: there is no value 'flipt' before this place");
  EXPECT_EQ(MaskedError("{op: random_flip, in: mask, axes: [-1], draws_as: plain}"),
            "m.yaml:14:59: error: 'plain' is no random_flip, and draws nothing that this one could "
            "draw");
  EXPECT_EQ(MaskedError("{op: random_flip, in: mask, axes: [-1], draws_as: image}"),
            "m.yaml:14:59: error: 'image' is no random_flip, and draws nothing that this one could "
            "draw");
  EXPECT_EQ(MaskedError("{op: random_flip, in: mask, axes: [-1], draws_as: flipped}"),
            "m.yaml:14:59: error: 'flipped' draws something else: its 'probability' is 0.25, not "
            "0.5");
  EXPECT_EQ(MaskedError("{op: random_crop, in: small, size: [4, 6], draws_as: part}"),
            "m.yaml:14:62: error: 'part' draws places in images [N, 3, 8, 8], which are not "
            "those in [N, 7, 8]");
  EXPECT_EQ(MaskedError("{op: random_flip, in: mask, axes: [-1], draws_as: [flipped]}"),
            "m.yaml:14:59: error: 'draws_as' must be a text, not a list");
  EXPECT_EQ(MaskedError("{op: flip, in: mask, axes: [-1], draws_as: flipped}"),
            "m.yaml:14:42: error: 'flip' has no key 'draws_as'");
}

}  // namespace
}  // namespace cgrun
