// Finds characters that only look like those of a number, such as a minus sign or a thin space.
#include "src/base/lookalikes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(Lookalikes, ComposeLettersAndTheirMarks) {
  EXPECT_EQ(WithComposedLetters("Fla\u0308che"), "Fl\u00e4che");
  EXPECT_EQ(WithComposedLetters("E\u0301te\u0301, n\u0303"), "\u00c9t\u00e9, \u00f1");
  EXPECT_EQ(WithComposedLetters("z\u030cZ\u030c"), "\u017e\u017d");
  EXPECT_EQ(WithComposedLetters("a\u0323"), "\u1ea1");
  for (const char* other :
       {"", "Fl\u00e4che", "\u0308", "\u0308a", "q\u0308", "1\u0308", "\u00e4"}) {
    EXPECT_EQ(WithComposedLetters(other), other);
  }
}

TEST(Lookalikes, NamesOfTheSameLettersAreToldApart) {
  const std::string whole = "Fl\u00e4che", apart = "Fla\u0308che";
  const std::string of_file = SameLettersHelp(whole, std::vector<std::string>{"a", apart});
  EXPECT_TRUE(of_file.starts_with("'" + apart + "' has the same letters, encoded otherwise: "));
  EXPECT_NE(of_file.find("and here a letter has its mark in it (NFC);"), of_file.npos) << of_file;
  const std::string other = SameLettersHelp(apart, std::vector<std::string>{whole});
  EXPECT_NE(other.find("and here marks are characters of their own (NFD);"), other.npos) << other;
  EXPECT_EQ(SameLettersHelp(whole, std::vector<std::string>{"Flache", "Fl\u00f6che", whole}), "");
}

}  // namespace
}  // namespace cgrun
