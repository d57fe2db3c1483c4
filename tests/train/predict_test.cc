// What outputs mean, which classes are the most probable, and what their names are.
#include "src/train/predict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/train/class_names.h"
#include "tests/train/session_testing.h"

namespace cgrun {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PredictedOutput OutputOf(Scores scores, int64_t elements) {
  PredictedOutput output;
  output.scores = scores;
  output.shape = Shape{elements};
  return output;
}

std::vector<int64_t> Indices(const std::vector<ClassScore>& top) {
  std::vector<int64_t> indices;
  for (const ClassScore& score : top) indices.push_back(score.index);
  return indices;
}

TEST(TopClasses, LogitsBecomeProbabilities) {
  const std::vector<double> logits = {0, std::log(6.0), std::log(3.0)};
  const auto top = TopClasses(OutputOf(Scores::kLogits, 3), logits, 2);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{1, 2}));
  EXPECT_NEAR(top[0].probability, 0.6, 1e-12);
  EXPECT_NEAR(top[1].probability, 0.3, 1e-12);
}

TEST(TopClasses, LargeLogitsDoNotOverflow) {
  const std::vector<double> logits = {1e300, -1e300};
  EXPECT_EQ(TopClasses(OutputOf(Scores::kLogits, 2), logits, 1)[0].probability, 1);
}

TEST(TopClasses, EqualOnesAreInOrderAndNanIsLast) {
  const std::vector<double> values = {kNan, 0.2, 0.4, 0.2};
  const auto top = TopClasses(OutputOf(Scores::kProbabilities, 4), values, 9);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{2, 1, 3, 0}));
}

TEST(TopClasses, OneLogitTellsTwoClassesApart) {
  const std::vector<double> logit = {std::log(4.0)};
  const PredictedOutput output = OutputOf(Scores::kYesNoLogits, 1);
  EXPECT_EQ(output.class_count(), 2);
  const auto top = TopClasses(output, logit, 2);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{1, 0}));
  EXPECT_NEAR(top[0].probability, 0.8, 1e-12);
  EXPECT_NEAR(top[1].probability, 0.2, 1e-12);
}

TEST(TopClasses, LogProbabilities) {
  const std::vector<double> values = {std::log(0.25), std::log(0.75)};
  EXPECT_NEAR(TopClasses(OutputOf(Scores::kLogProbabilities, 2), values, 1)[0].probability, 0.75,
              1e-12);
}

// The signature of a model with this end and loss.
PredictSignature SignatureWith(const std::string& end, const std::string& loss,
                               const std::string& label) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
inputs:
  x: {shape: [4]}
  y: )" + label + R"(
paths:
  learn:
    ops:
      - h: {op: linear, in: x, units: 3}
      - )" + end + R"(
    loss: )" + loss + R"(
train: {optimizer: {op: sgd, lr: 0.1}}
)");
  Diagnostics diagnostics;
  const auto signature = DescribePredictions(model, DType::kF32, false, diagnostics);
  EXPECT_TRUE(signature.has_value()) << diagnostics.ToString();
  return signature.value_or(PredictSignature());
}

TEST(DescribePredictions, TheLossSaysWhatOutputsMean) {
  struct Case {
    const char *end, *loss, *label;
    Scores scores;
  };
  const Case cases[] = {
      {"z: {op: relu}", "{op: softmax_cross_entropy, in: [z, y]}", "{type: int32, shape: []}",
       Scores::kLogits},
      {"z: {op: softmax}", "{op: softmax_cross_entropy, in: [h, y]}", "{type: int32, shape: []}",
       Scores::kProbabilities},
      {"z: {op: sigmoid}", "{op: binary_cross_entropy, in: [z, y], from_logits: false}",
       "{shape: [3]}", Scores::kYesNo},
      {"z: {op: relu}", "{op: binary_cross_entropy, in: [z, y]}", "{shape: [3]}",
       Scores::kYesNoLogits},
      {"z: {op: relu}", "{op: squared_error, in: [z, y]}", "{shape: [3]}", Scores::kNone},
      {"half: {op: mul, in: [y, 1/2]}\n      - z: {op: relu, in: h}",
       "{op: squared_error, in: [z, half]}", "{shape: [3]}", Scores::kNone}};
  for (const Case& c : cases) {
    const PredictSignature signature = SignatureWith(c.end, c.loss, c.label);
    ASSERT_EQ(signature.inputs.size(), 1u) << c.end;
    EXPECT_EQ(signature.inputs[0].name, "x");
    ASSERT_EQ(signature.outputs.size(), 1u) << c.end;
    EXPECT_EQ(signature.outputs[0].name, "z");
    EXPECT_EQ(signature.outputs[0].shape, Shape{3});
    EXPECT_EQ(signature.outputs[0].scores, c.scores) << c.end << c.loss;
  }
}

TEST(ClassNames, SurviveMetadata) {
  const ClassNames names = {{"label", {"a \"b\"", "ä", ""}}, {"other", {"x"}}};
  EXPECT_EQ(ReadClassMetadata(ClassMetadata(names)), names);
  EXPECT_TRUE(
      ReadClassMetadata({{"classes.label", "[1, 2"}, {"classes.x", "[3]"}, {"y", "[]"}}).empty());
  ClassMetadata({{"label", {"no UTF-8: \xff"}}});
}

TEST(ClassNames, AreThoseOfTheInputElseOfTheLength) {
  const ClassNames names = {{"label", {"a", "b"}}, {"other", {"x", "y", "z"}}};
  EXPECT_EQ(FindClassNames(names, "label", 2)[1], "b");
  EXPECT_EQ(FindClassNames(names, "renamed", 3)[0], "x");
  EXPECT_EQ(FindClassNames(names, "label", 3).size(), 2u);
  EXPECT_EQ(FindClassNames({{"", {"a", "b"}}}, "label", 3).size(), 2u);
  EXPECT_TRUE(FindClassNames({{"", {"a", "b"}}}, "", 3).empty());
  EXPECT_TRUE(FindClassNames(names, "renamed", 4).empty());
}

}  // namespace
}  // namespace cgrun
