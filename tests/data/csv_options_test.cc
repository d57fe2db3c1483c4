// CSV: options that are wrong, and what the error says instead.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

TEST(CsvOptionsTest, OptionsThatAreWrong) {
  const auto with = [](const std::string& name, const std::string& value) {
    return CsvBuilder("a,b,y\n1,2,3\n").Label("y", DType::kF32).Set(name, value).Open().errors;
  };
  EXPECT_EQ(with("label", "z"), "error: 'DIR/t.csv' has no column 'z'\nhelp: known: a, b, y\n");
  EXPECT_EQ(with("label", "4"),
            "error: there is no column 4: the columns are 1 to 3, or -1 for the last\n"
            "help: known: a, b, y\n");
  EXPECT_TRUE(with("columns", "[a, y]")
                  .starts_with("error: column 'y' is the label too\nhelp: leave it out of `co"));
  EXPECT_EQ(with("columns", "[a, a]"), "error: column 'a' stands twice in the list\n");
  EXPECT_EQ(with("delimiter", "ab"),
            "error: option 'delimiter' is 'ab', but must be one character, or `tab`\n");
  EXPECT_EQ(with("header", "no"), "error: option 'header' cannot be 'no'\nhelp: write `false`\n");
  EXPECT_EQ(with("header", "None"),
            "error: option 'header' cannot be 'None'\nhelp: write `false`\n");
  EXPECT_EQ(with("header", "maybe"),
            "error: option 'header' cannot be 'maybe'\nhelp: known: false, true\n");
  EXPECT_EQ(with("missing", "median"),
            "error: option 'missing' is 'median', but must be `error`, `drop`, `zero`, `mean` or a "
            "number\n");
  EXPECT_EQ(with("classes", "[a, b]"),
            "error: there are classes, but the label's input is not int32\n");
  EXPECT_EQ(with("colums", "[a]"),
            "error: unknown option 'colums' for data of format 'csv'\nhelp: did you mean "
            "'columns'?\n");
  EXPECT_EQ(ErrorsOf("a;b;y\n1;2;3\n"),
            "error: 'DIR/t.csv' has no column 'y'\n"
            "help: there is one column only; if another character separates them: `delimiter: "
            "\";\"`\n");
  EXPECT_EQ(ErrorsOf("y\n1\n"),
            "DIR/t.csv:1:1: error: beside the label there is no column\n    y\n    ^\n");
  EXPECT_EQ(CsvBuilder("a,b,a\n1,2,3\n").Set("columns", "a").Open().errors,
            "error: 2 columns are called 'a'\nhelp: a number, from 1, names a column too\n");
}

TEST(CsvOptionsTest, AColumnInAnotherCaseIsMeant) {
  const auto help = [](const std::string& label) {
    const std::string errors = ErrorsOf("AREA,size,Price\n1,2,3\n", label);
    return errors.substr(std::min(errors.find("help: "), errors.size()));
  };
  EXPECT_EQ(help("PRICE"), "help: did you mean 'Price'?\n");
  EXPECT_EQ(help("PRISE"), "help: did you mean 'Price'?\n");
  EXPECT_EQ(help("area"), "help: did you mean 'AREA'?\n");
  EXPECT_EQ(help("cost"), "help: known: AREA, size, Price\n");
}

TEST(CsvOptionsTest, OptionsOfOtherProgramsLeadToOurs) {
  const auto errors = [](const std::string& option) {
    return CsvBuilder("a,b,y\n1,2,3\n").Label("y", DType::kF32).Set(option, "0").Open().errors;
  };
  EXPECT_EQ(
      errors("na_values"),
      "error: unknown option 'na_values' for data of format 'csv'\n"
      "help: gaps are what is empty, `NA`, `NaN` or `?`, and nothing else; `missing` says what "
      "becomes of them: `mean`, `zero`, a number or `drop`\n");
  EXPECT_EQ(errors("fillna"),
            "error: unknown option 'fillna' for data of format 'csv'\nhelp: write 'missing'\n");
  EXPECT_EQ(
      errors("zzzzz"),
      "error: unknown option 'zzzzz' for data of format 'csv'\n"
      "help: known: file, label, columns, header, delimiter, missing, missing_label, classes, "
      "categories, standardize\n");
}

}  // namespace
}  // namespace cgrun
