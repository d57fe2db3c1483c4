// Tests the suggestions that a table of synonyms gives.
#include "src/base/synonyms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cgrun {
namespace {

constexpr Synonym kTable[] = {{"wide", "broad"}, {"wide", "large"}};

TEST(SynonymsTest, PlainNamesHaveNeitherCaseNorSeparators) {
  EXPECT_EQ(PlainName("MaxPool2d"), "maxpool2d");
  EXPECT_EQ(PlainName("max_pool-2D"), "maxpool2d");
  EXPECT_EQ(PlainName(""), "");
}

TEST(SynonymsTest, LeadToTheFirstThatIsKnown) {
  const std::vector<std::string> both = {"large", "broad"}, one = {"large"};
  EXPECT_EQ(SuggestSynonym("Wide", both, kTable), "write 'broad'");
  EXPECT_EQ(SuggestSynonym("wide", one, kTable), "write 'large'");
}

TEST(SynonymsTest, NamesThatDifferInSpellingAloneComeFirst) {
  const std::vector<std::string> known = {"broad", "w_ide"};
  EXPECT_EQ(SuggestSynonym("WIDE", known, kTable), "write 'w_ide'");
}

TEST(SynonymsTest, WithoutOneTheNearestNameIsMeant) {
  const std::vector<std::string> known = {"narrow", "tall"};
  EXPECT_EQ(SuggestSynonym("wide", known, kTable), "known: narrow, tall");
  EXPECT_EQ(SuggestSynonym("narow", known, kTable), "did you mean 'narrow'?");
}

}  // namespace
}  // namespace cgrun
