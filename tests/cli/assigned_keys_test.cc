// Keys that `--set` names are known part by part, and items by name or index.
#include "src/cli/assigned_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cgrun {
namespace {

TEST(AssignedKeys, EndWhereAPartDoes) {
  EXPECT_FALSE(Sets({"networks.g=1"}, "networks.gen"));
  EXPECT_FALSE(Sets({"networks.gen=1"}, "networks.g"));
  EXPECT_TRUE(Sets({"networks.gen=1"}, "networks.gen.ops[0].units"));
  EXPECT_TRUE(Sets({"networks.gen.ops[0].units=1"}, "networks.gen"));
  EXPECT_TRUE(Sets({"p.ops=[]"}, "p.ops[1].units"));
  EXPECT_FALSE(Sets({"p.ops[1].units=2"}, "p.ops[10].units"));
  EXPECT_TRUE(Sets({"a=1", "train.seed=2"}, "train.seed"));
  EXPECT_FALSE(Sets({}, "train.seed"));
}

TEST(AssignedKeys, CallItemsByNameOrIndex) {
  const auto map = [](const std::string& key, TreeNode value) {
    return TreeNode::Map({{key, {}, std::move(value)}});
  };
  const TreeNode flatten = map("op", TreeNode::Scalar("flatten"));
  const TreeNode logits = map("logits", map("op", TreeNode::Scalar("linear")));
  const TreeNode tree = map("ops", TreeNode::Sequence({flatten, logits}));
  EXPECT_TRUE(Sets({"ops[1].units=2"}, "ops.logits.units", tree));
  EXPECT_TRUE(Sets({"ops.logits.units=2"}, "ops[1].units", tree));
  EXPECT_TRUE(Sets({"ops[1]={op: linear}"}, "ops.logits.units", tree));
  EXPECT_FALSE(Sets({"ops[0].units=2"}, "ops.logits.units", tree));
  EXPECT_FALSE(Sets({"ops[1].bias=false"}, "ops.logits.units", tree));
}

}  // namespace
}  // namespace cgrun
