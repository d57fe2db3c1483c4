// Lists that are counted, allotted and filled.
#include "src/base/flat_lists.h"

#include <gtest/gtest.h>

#include <vector>

namespace cgrun {
namespace {

using Key = Id<struct KeyTag>;

std::vector<int> ItemsOf(const FlatLists<Key, int>& lists, int key) {
  const auto items = lists[Key(key)];
  return {items.begin(), items.end()};
}

TEST(FlatLists, KeepTheOrderOfEachList) {
  FlatLists<Key, int> lists(3);
  for (const int key : {2, 0, 2, 2}) lists.Count(Key(key));
  lists.Allot();
  lists.Add(Key(2), 5);
  lists.Add(Key(0), 6);
  lists.Add(Key(2), 4);
  EXPECT_EQ(lists.size(), 3u);
  EXPECT_EQ(ItemsOf(lists, 0), std::vector<int>{6});
  EXPECT_TRUE(ItemsOf(lists, 1).empty());
  EXPECT_EQ(ItemsOf(lists, 2), (std::vector<int>{5, 4}));  // fewer than were counted
}

}  // namespace
}  // namespace cgrun
