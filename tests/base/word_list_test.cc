// Lists of words in messages.
#include "src/base/word_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace cgrun {
namespace {

using Words = std::vector<std::string>;

TEST(WordListTest, PutsAWordBeforeTheLast) {
  EXPECT_EQ(ListWords(Words{}, "and"), "");
  EXPECT_EQ(ListWords(Words{"a"}, "and"), "a");
  EXPECT_EQ(ListWords(Words{"a", "b"}, "or"), "a or b");
  EXPECT_EQ(ListWords(Words{"a", "b", "c"}, "and"), "a, b and c");
}

TEST(WordListTest, CountsWhatItLeavesOut) {
  EXPECT_EQ(ListFirst(Words{}, 2), "");
  EXPECT_EQ(ListFirst(Words{"a", "b"}, 2), "a, b");
  EXPECT_EQ(ListFirst(Words{"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

}  // namespace
}  // namespace cgrun
