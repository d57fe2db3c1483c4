// Texts that are the same in upper and lower case. (csv_test.cc has the numbers.)
#include "src/data/text_number.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

constexpr std::string_view kTables[] = {".csv", ".csv.gz"};

TEST(TextNumberTest, NamesEndInSmallOrCapitalLetters) {
  EXPECT_TRUE(HasEnding("a.csv", kTables));
  EXPECT_TRUE(HasEnding("some.folder/A.Csv.GZ", kTables));
  EXPECT_FALSE(HasEnding("x.gz", kTables));
  EXPECT_FALSE(HasEnding("x.csv/y", kTables));
  EXPECT_FALSE(HasEnding("x.csvx", kTables));
  EXPECT_FALSE(HasEnding("csv", kTables));
  EXPECT_FALSE(HasEnding("", kTables));
}

TEST(TextNumberTest, AnEndingAloneIsNone) {
  EXPECT_FALSE(HasEnding(".csv", kTables));
  EXPECT_FALSE(HasEnding("folder/.CSV", kTables));
  EXPECT_TRUE(HasEnding("folder/..csv", kTables));
}

TEST(TextNumberTest, KnowsNumbersWithAComma) {
  for (const char* text : {"1.5", " -2", "1e300", "+0"}) EXPECT_TRUE(IsFiniteNumber(text)) << text;
  for (const char* text : {"", "inf", "1,5", "x"}) EXPECT_FALSE(IsFiniteNumber(text)) << text;
  for (const char* text : {"1,5", "-0,25e3", ",5"}) EXPECT_TRUE(HasDecimalComma(text)) << text;
  for (const char* text : {"1.5", "1,2,3", "1.000,5", "a,b", ","}) {
    EXPECT_FALSE(HasDecimalComma(text)) << text;
  }
}

}  // namespace
}  // namespace cgrun
