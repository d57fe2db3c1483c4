// Blocks by name: as deep as there is room for, never across kinds.
#include "src/report/name_folds.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

TEST(NameFolds, PartsOfNames) {
  EXPECT_EQ(FirstParts("a.b[0].c", 1), "a");
  EXPECT_EQ(FirstParts("a.b[0].c", 2), "a.b[0]");
  EXPECT_EQ(FirstParts("a.b[0].c", 3), "a.b[0].c");
  EXPECT_EQ(FirstParts("a.b[0].c", 9), "a.b[0].c");
  EXPECT_EQ(CommonParts("a.b.c", "a.b.d"), 2);
  EXPECT_EQ(CommonParts("a.bc", "a.b"), 1);
  EXPECT_EQ(CommonParts("a.b", "a.b"), 2);
  EXPECT_EQ(CommonParts("a.b.c", "a.b"), 2);
  EXPECT_EQ(CommonParts("x", "a"), 0);
}

const Names kNames = {"p.s[0].a.x", "p.s[0].a.y", "p.s[0].b.x", "p.s[1].a.x", "p.end"};

TEST(NameFolds, FoldNothingWhereThereIsRoom) {
  EXPECT_EQ(FoldNames(kNames, {0, 0, 0, 0, 0}, 5), kNames);
}

TEST(NameFolds, FoldAsLittleAsTheyMust) {
  EXPECT_EQ(FoldNames(kNames, {0, 0, 0, 0, 0}, 4),
            (Names{"p.s[0].a", "p.s[0].a", "p.s[0].b", "p.s[1].a", "p.end"}));
  EXPECT_EQ(FoldNames(kNames, {0, 0, 0, 0, 0}, 3),
            (Names{"p.s[0]", "p.s[0]", "p.s[0]", "p.s[1]", "p.end"}));
}

TEST(NameFolds, KeepThePathAndWhatStandsInIt) {
  EXPECT_EQ(FoldNames(kNames, {0, 0, 0, 0, 0}, 1),
            (Names{"p.s[0]", "p.s[0]", "p.s[0]", "p.s[1]", "p.end"}));
}

TEST(NameFolds, CountBlocksOfEachKind) {
  // In two kinds, "p.s[0].a" is two blocks: four would be five.
  EXPECT_EQ(FoldNames(kNames, {0, 1, 0, 0, 0}, 4),
            (Names{"p.s[0]", "p.s[0]", "p.s[0]", "p.s[1]", "p.end"}));
}

}  // namespace
}  // namespace cgrun
