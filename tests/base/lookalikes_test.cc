#include "src/base/lookalikes.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TEST(Lookalikes, GiveTheCharactersOfANumber) {
  const PlainNumber minus = WithoutLookalikes("\u22123,5");
  EXPECT_EQ(minus.text, "-3,5");
  EXPECT_EQ(minus.note, "'\u2212' is U+2212, a minus sign");
  const PlainNumber both = WithoutLookalikes("\u22121\u00a0000\u00a0000");
  EXPECT_EQ(both.text, "-1000000");
  EXPECT_EQ(both.note, "'\u2212' is U+2212, a minus sign; '\u00a0' is U+00A0, a no-break space");
  EXPECT_EQ(WithoutLookalikes("1\u2009000").text, "1000");
  EXPECT_EQ(WithoutLookalikes("1\u202f000").text, "1000");
  const PlainNumber none = WithoutLookalikes("-3.5 \u00e9");
  EXPECT_EQ(none.text, "-3.5 \u00e9");
  EXPECT_EQ(none.note, "");
}

TEST(Lookalikes, TakeBlanksOutBetweenThousandsAlone) {
  EXPECT_EQ(ReadPlainNumber("1 234.5").text, "1234.5");
  EXPECT_EQ(ReadPlainNumber("-12 345 678").text, "-12345678");
  EXPECT_NE(ReadPlainNumber("1 234").note, "");
  for (const char* other : {"3 48 48", "1 2345", "1234 567", "1 a", "a 123", "1 ", "", "1.5 000"}) {
    EXPECT_EQ(ReadPlainNumber(other).text, other);
    EXPECT_EQ(ReadPlainNumber(other).note, "") << other;
  }
}

}  // namespace
}  // namespace cgrun
