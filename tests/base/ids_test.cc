// Strong ids and the vectors that they index.
#include "src/base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace cgrun {
namespace {

using ApplesId = Id<struct ApplesTag>;
using PearsId = Id<struct PearsTag>;

static_assert(!std::is_convertible_v<ApplesId, PearsId>);
static_assert(!std::is_convertible_v<int, ApplesId>);
static_assert(std::is_trivially_copyable_v<ApplesId>);

TEST(IdTest, DefaultNamesNothing) {
  EXPECT_FALSE(ApplesId().valid());
  EXPECT_TRUE(ApplesId(0).valid());
  EXPECT_LT(ApplesId(1), ApplesId(2));
}

TEST(IdTest, Hashes) {
  const std::unordered_set<ApplesId> ids = {ApplesId(1), ApplesId(1), ApplesId(2)};
  EXPECT_EQ(ids.size(), 2u);
}

TEST(IdVectorTest, PushBackReturnsTheId) {
  IdVector<ApplesId, std::string> names;
  EXPECT_EQ(names.push_back("boskoop"), ApplesId(0));
  EXPECT_EQ(names.push_back("cox"), ApplesId(1));
  EXPECT_EQ(names[ApplesId(1)], "cox");
  EXPECT_EQ(names.last(), ApplesId(1));
  EXPECT_TRUE(names.contains(ApplesId(1)));
  EXPECT_FALSE(names.contains(ApplesId(2)));
  EXPECT_FALSE(names.contains(ApplesId()));
}

TEST(IdVectorTest, IteratesOverIds) {
  IdVector<ApplesId, int> weights(3, 5);
  int sum = 0, count = 0;
  for (ApplesId id : weights.ids()) {
    sum += weights[id] + id.index;
    ++count;
  }
  EXPECT_EQ(count, 3);
  EXPECT_EQ(sum, 18);
  EXPECT_FALSE((IdVector<ApplesId, int>().last().valid()));
}

}  // namespace
}  // namespace cgrun
