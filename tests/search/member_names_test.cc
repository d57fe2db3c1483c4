// Tests the names that a model gets so that it can stand beside others.
#include "src/search/member_names.h"

#include <gtest/gtest.h>

#include "src/model/model_file.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(cgrun: 1
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
networks:
  tower: {in: x, ops: [{block: layer, in: x}, {op: linear, units: 4}]}
  named: {in: x, ops: [{op: linear, in: x, units: 4}]}
blocks:
  layer: {in: x, ops: [{op: relu, in: x}]}
paths:
  prepare:
    mode: forward
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - x: flatten
  classify:
    ops:
      - {block: layer, in: x}
      - named: {network: named}
      - sum: {op: add, in: [prepare.x, 1/2]}
      - both: {op: add, in: [sum, classify.layer[0].relu]}
      - inner: {op: mul, in: [both, classify.named.linear]}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
)";

class MemberNamesTest : public testing::Test {
 protected:
  MemberNamesTest() {
    Diagnostics diagnostics;
    auto model = ParseModel({"m.yaml", kModel}, {}, diagnostics);
    EXPECT_TRUE(model) << diagnostics.ToString();
    if (model) model_ = std::move(*model);
  }
  static std::string Text(std::vector<TreeEntry> entries) {
    return ToYaml(TreeNode::Map(std::move(entries)));
  }

  ModelSpec model_;
};

TEST_F(MemberNamesTest, ValuesAreNamedFromOutside) {
  const MemberNames names(model_, "a_");
  EXPECT_EQ(names.Value("classify", "logits"), "a_classify.logits");
  EXPECT_EQ(names.Value("classify", "x"), "a_prepare.x");
  EXPECT_EQ(names.Value("classify", "label"), "label");
  EXPECT_EQ(names.Value("classify", "prepare.x"), "a_prepare.x");
}

TEST_F(MemberNamesTest, LabelsOfBlocksFollowTheirNames) {
  const MemberNames names(model_, "a_");
  EXPECT_EQ(names.Value("classify", "classify.layer[0].relu"), "a_classify.a_layer[0].relu");
  EXPECT_EQ(names.Value("classify", "classify.named.linear"), "a_classify.named.linear");
}

TEST_F(MemberNamesTest, PathsKeepTheirOwnNamesInside) {
  const std::string text = Text(MemberNames(model_, "a_").Paths());
  EXPECT_NE(text.find("a_classify:\n  mode: forward\n"), text.npos) << text;
  EXPECT_NE(text.find("{block: a_layer, in: a_prepare.x}"), text.npos) << text;
  EXPECT_NE(text.find("named: {network: a_named}"), text.npos) << text;
  EXPECT_NE(text.find("in: [a_prepare.x, 1/2]"), text.npos) << text;
  EXPECT_NE(text.find("in: [sum, \"a_classify.a_layer[0].relu\"]"), text.npos) << text;
  EXPECT_NE(text.find("in: image"), text.npos) << text;
  EXPECT_EQ(text.find("loss"), text.npos) << text;
}

TEST_F(MemberNamesTest, TemplatesUseTheNewNames) {
  const MemberNames names(model_, "a_");
  const std::string networks = Text(names.Networks()), blocks = Text(names.Blocks());
  EXPECT_NE(networks.find("a_tower:"), networks.npos) << networks;
  EXPECT_NE(networks.find("{block: a_layer, in: x}"), networks.npos) << networks;
  EXPECT_NE(blocks.find("a_layer:"), blocks.npos) << blocks;
  EXPECT_NE(blocks.find("{op: relu, in: x}"), blocks.npos) << blocks;
}

TEST(PrefixTest, StandsNowhereInTheModel) {
  EXPECT_EQ(PrefixOf(7, "paths: {classify: x}"), "trial7_");
  EXPECT_EQ(PrefixOf(7, "paths: {trial7_x: y}"), "trial7__");
}

TEST(PrefixTest, IsTakenAwayEverywhere) {
  EXPECT_EQ(WithoutPrefix("trial7_a.trial7_b[0].w", "trial7_"), "a.b[0].w");
  EXPECT_EQ(WithoutPrefix("trial71_a.w", "trial7_"), "");
}

}  // namespace
}  // namespace cgrun
