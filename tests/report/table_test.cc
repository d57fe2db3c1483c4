// Tables whose columns line up, and the texts of numbers.
#include "src/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cgrun {
namespace {

TEST(TextTable, AlignsItsColumnsByCharacters) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft});
  table.Add({"näme", "bytes", "note"});
  table.AddRule();
  table.Add({"a", "12", ""});
  table.Add({"b"});
  EXPECT_EQ(table.ToString("  "),
            "  näme  bytes  note\n"
            "  -----------------\n"
            "  a        12\n"
            "  b\n");
}

TEST(TextTable, WrapsTheLastColumn) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"one", "words that go on"});
  table.AddRule();
  EXPECT_EQ(table.ToString("", 14),
            "one  words\n"
            "     that go\n"
            "     on\n"
            "--------------\n");
}

TEST(TextTable, TakesNoMoreCellsThanColumns) {
  TextTable table({Align::kLeft});
  EXPECT_DEATH(table.Add({"one", "too many"}), "2 cells for 1 columns");
}

TEST(Numbers, HaveThreeDigits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(int64_t{5} << 30), "5.00 GiB");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(1, "sample"), "1 sample");
  EXPECT_EQ(FormatCount(1065, "sample"), "1,065 samples");
  EXPECT_EQ(FormatSi(12345), "12.3 k");
  EXPECT_EQ(FormatSeconds(125), "2 min 05 s");
  EXPECT_EQ(LongerText(0.0321), "3.2 % longer");
  EXPECT_EQ(LongerText(-0.004), "0.4 % shorter");
  EXPECT_EQ(LongerText(-0.0001), "0.0 % longer");
}

TEST(Numbers, OfAColumnHaveAsManyDecimals) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(FormatAlike({17.88274, 9.5, -0.00001}), (Texts{"17.882740", "9.500000", "-0.000010"}));
  EXPECT_EQ(FormatAlike({123456.78, 0.25}), (Texts{"123456.780", "0.250"}));
  EXPECT_EQ(FormatAlike({123456.78, 0.75}), (Texts{"123457", "1"}));
  EXPECT_EQ(FormatAlike({2.5, 0.0, -1e-9}), (Texts{"2.50000e+00", "0.00000e+00", "-1.00000e-09"}));
  EXPECT_EQ(FormatAlike({17.88274, 9.5, 0.0}), (Texts{"17.8827", "9.5000", "0.0000"}));
  EXPECT_EQ(FormatAlike({0.25, 0.0625}), (Texts{"0.250000", "0.062500"}));
  EXPECT_EQ(FormatAlike({30, -20, 1e9}), (Texts{"30", "-20", "1000000000"}));
  EXPECT_EQ(FormatAlike({1.234567e-5, 0}), (Texts{"1.23457e-05", "0.00000e+00"}));
  EXPECT_EQ(FormatAlike({2e20})[0], "2.00000e+20");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FormatAlike({1.5, std::nan(""), -infinity}), (Texts{"1.50000", "nan", "-inf"}));
  EXPECT_EQ(FormatAlike({}), Texts());
  EXPECT_EQ(FormatAlike({0.0, -0.0}), (Texts{"0", "0"}));
}

TEST(Numbers, ThatDifferLookDifferent) {
  const int64_t mib = 1 << 20;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(FormatBytesApart({14 * mib, 10 * mib}), (Texts{"14 MiB", "10 MiB"}));
  EXPECT_EQ(FormatBytesApart({14 * mib, 14 * mib - 30'000}), (Texts{"14 MiB", "13.97 MiB"}));
  EXPECT_EQ(FormatBytesApart({14 * mib, 14 * mib - 1}), (Texts{"14 MiB", "13.999999 MiB"}));
  EXPECT_EQ(FormatBytesApart({14 * mib - 30'000, 14 * mib - 30'000}),
            (Texts{"14.0 MiB", "14.0 MiB"}));
  const int64_t tib = int64_t{1} << 40;
  EXPECT_NE(FormatBytesApart({tib - 1, tib - 2})[0], FormatBytesApart({tib - 1, tib - 2})[1]);
  EXPECT_EQ(FormatBytesApart({100, 1536}), (Texts{"100 B", "1.50 KiB"}));
  EXPECT_EQ(FormatBytesUnder(mib * 1025 / 100, {11 * mib}), (Texts{"10.25 MiB", "11 MiB"}));
  EXPECT_EQ(FormatBytesUnder(2'000'000'000, {mib}), (Texts{"2 GB", "1 MiB"}));
  EXPECT_EQ(FormatBytesUnder(3 * mib + 1, {3 * mib}), (Texts{"3.000001 MiB", "3 MiB"}));
}

}  // namespace
}  // namespace cgrun
