// The table `rename`: how a name in a file becomes one of the model.
#include "src/run/weight_names.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

using Stars = std::optional<std::vector<std::string>>;

RenameRule Rule(const std::string& pattern, const char* name) {
  RenameRule rule{{pattern, {}}, std::nullopt};
  if (name != nullptr) rule.name = MarkedText{name, {}};
  return rule;
}

TEST(WeightNamesTest, AStarTakesTheFewestCharacters) {
  EXPECT_EQ(MatchStars("layer*.*.w", "layer1.0.conv.w"), (Stars{{"1", "0.conv"}}));
  EXPECT_EQ(MatchStars("*.conv*", "a.conv.conv1"), (Stars{{"a", ".conv1"}}));
  EXPECT_EQ(MatchStars("*", ""), Stars{{""}});
  EXPECT_EQ(MatchStars("a*a", "aa"), Stars{{""}});
  EXPECT_EQ(MatchStars("a*a", "a"), std::nullopt);
  EXPECT_EQ(MatchStars("w", "w"), Stars{std::vector<std::string>()});
  EXPECT_EQ(MatchStars("w", "w2"), std::nullopt);
  EXPECT_EQ(MatchStars("*b*b", "abab"), (Stars{{"a", "a"}}));
  EXPECT_EQ(MatchStars("*.x.*.y", "a.x.y"), std::nullopt);
}

TEST(WeightNamesTest, EveryRuleIsTriedOnWhatTheOnesBeforeMade) {
  const std::vector<RenameRule> rules = {Rule("*.batches", nullptr),
                                         Rule("layer1.*.*", "block[*].*"),
                                         Rule("*.bn.*", "*.norm.*"), Rule("*", "net.*")};
  EXPECT_EQ(Renamed("layer1.0.bn.weight", rules), "net.block[0].norm.weight");
  EXPECT_EQ(Renamed("fc.weight", rules), "net.fc.weight");
  EXPECT_EQ(Renamed("bn.batches", rules), std::nullopt);
}

TEST(WeightNamesTest, AFrontIsWhatAllNamesHave) {
  EXPECT_EQ(CommonFront({"module.a.weight", "module.b.weight"}), "module.");
  EXPECT_EQ(CommonFront({"state_dict._orig_mod.a", "state_dict._orig_mod.b"}),
            "state_dict._orig_mod.");
  EXPECT_EQ(CommonFront({"module.a", "b"}), "");
  EXPECT_EQ(CommonFront({"layer.a", "layer.b"}), "");
  EXPECT_EQ(CommonFront({}), "");
}

}  // namespace
}  // namespace cgrun
