// The keys that operators have in common are those that the parser takes.
#include "src/frontend/common_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/frontend/shared_draw.h"

namespace cgrun {
namespace {

std::vector<std::string> NamesOf(const OpDef& def) {
  std::vector<std::string> names;
  for (const CommonKey& key : KeysInCommon(def)) names.emplace_back(key.name);
  std::ranges::sort(names);
  return names;
}

TEST(CommonKeysTest, AreThoseBesideTheAttributes) {
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(OpId(i));
    if (def.usage != Usage::kOperator) continue;
    std::vector<std::string> beside = KeysBeside(def);
    std::ranges::sort(beside);
    const std::vector<std::string> common = NamesOf(def);
    EXPECT_TRUE(std::ranges::includes(beside, common)) << def.name;
    EXPECT_TRUE(def.owned == nullptr || common == beside) << def.name;
  }
}

TEST(CommonKeysTest, AScheduleIsForOptimizersAlone) {
  EXPECT_EQ(NamesOf(GetOpDef(OpId::sgd)), std::vector<std::string>{"schedule"});
  EXPECT_TRUE(NamesOf(GetOpDef(OpId::softmax_cross_entropy)).empty());
}

}  // namespace
}  // namespace cgrun
