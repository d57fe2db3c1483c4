// Compares InlineVector with std::vector, within its first elements and beyond.
#include "src/base/inline_vector.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace cgrun {
namespace {

using Few = InlineVector<int, 4>;

void ExpectSame(const Few& few, const std::vector<int>& plain) {
  RC_ASSERT(std::vector<int>(few.begin(), few.end()) == plain);
  RC_ASSERT(few.size() == plain.size());
  RC_ASSERT(few == Few(plain.begin(), plain.end()));
}

TEST(InlineVector, HoldsWhatAVectorWould) {
  EXPECT_TRUE(rc::check([] {
    std::vector<int> plain;
    Few few;
    for (int round = 0; round < 20; ++round) {
      const auto at = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(plain) + 1);
      const int item = *rc::gen::inRange(0, 100);
      switch (*rc::gen::inRange(0, 5)) {
        case 0:
          plain.push_back(item);
          few.push_back(item);
          break;
        case 1:
          plain.insert(plain.begin() + at, item);
          few.insert(few.begin() + at, item);
          break;
        case 2: {
          const std::vector<int> more(3, item);
          plain.insert(plain.begin() + at, more.begin(), more.end());
          few.insert(few.begin() + at, more.begin(), more.end());
          break;
        }
        case 3:
          if (at == std::ssize(plain)) break;
          plain.erase(plain.begin() + at);
          few.erase(few.begin() + at);
          break;
        default:
          plain.erase(plain.begin(), plain.begin() + at);
          few.erase(few.begin(), few.begin() + at);
      }
      ExpectSame(few, plain);
    }
  }));
}

TEST(InlineVector, IsCopiedAndMoved) {
  for (const int size : {0, 3, 4, 5, 40}) {
    const std::vector<int> plain(static_cast<size_t>(size), 7);
    const Few few(plain.begin(), plain.end());
    Few copy = few;
    EXPECT_EQ(copy, few);
    copy.push_back(1);
    EXPECT_NE(copy, few);
    copy = few;
    EXPECT_EQ(copy, few);
    Few moved = std::move(copy);
    EXPECT_EQ(moved, few);
    EXPECT_TRUE(copy.empty());  // NOLINT: what was moved is empty, and can be used
    copy.push_back(2);
    EXPECT_EQ(copy.back(), 2);
    moved = std::move(copy);
    EXPECT_EQ(moved, (Few{2}));
  }
}

}  // namespace
}  // namespace cgrun
