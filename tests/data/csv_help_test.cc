// The help about cells and about the first line of a table stands in these tests.
#include <gtest/gtest.h>

#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

// The first help of a table between semicolons.
std::string HelpOf(const std::string& table) {
  const std::string errors =
      CsvBuilder(table).Set("delimiter", ";").Label("y", DType::kF32).Open().errors;
  const size_t begin = errors.find("help: ");
  return begin == errors.npos ? errors : errors.substr(begin, errors.find('\n', begin) - begin);
}

TEST(CsvCommaTest, NumbersAreWrittenWithAPoint) {
  EXPECT_EQ(HelpOf("a;b;y\n1,5;2;3\n"), "help: a fraction is written with a point, as 2.5");
  EXPECT_EQ(HelpOf("a;b;y\n1,341;2;3\n"), "help: write 1341, or 1.341 for a fraction");
  EXPECT_EQ(HelpOf("a;b;y\n1.234,56;2;3\n"),
            "help: write 1234.56: no mark stands between the thousands of a number");
}

// If the training data had no line of names, such a line is one error for all columns.
TEST(CsvHeaderTest, NamesWhereThereAreNone) {
  const std::string errors = CsvBuilder("a,b\n1,2\n").Set("header", "false").Open().errors;
  EXPECT_EQ(errors,
            "DIR/t.csv:1:1: error: column '1': 'a' is not a number; and 1 more such cell: 'b' in "
            "line 1\n"
            "    a,b\n"
            "    ^\n"
            "help: if the first line holds names, leave `header: false` out\n");
}

// Numbers of columns in a table without names are no names in one that has some.
TEST(CsvHeaderTest, ColumnsOfTrainingDataWithoutNamesAreFoundByTheirPlaces) {
  const Opened train = CsvBuilder("1,2\n3,4\n").Set("header", "false").Open();
  ASSERT_EQ(train.errors, "");
  const Opened named = CsvBuilder("a,b\n5,6\n").Train(*train.dataset).Open();
  ASSERT_EQ(named.errors, "");
  EXPECT_EQ(ReadField<float>(*named.dataset, 0, 0), (std::vector<float>{5, 6}));
}

TEST(CsvHelpTest, DatesAndTruthAreNoNumbers) {
  for (const char* date : {"2024-01-31", "31.01.2024", "1/31/24", "2024-01-31T12:00:00"}) {
    EXPECT_EQ(HelpOf("a;b;y\n1;" + std::string(date) + ";3\n"),
              "help: a date is no number: give its year, month and day columns of their own, or "
              "leave it out: `columns` lists the others");
  }
  EXPECT_EQ(HelpOf("a;b;y\n1;True;3\n"),
            "help: write 1 and 0; or `categories: [b]` takes the texts as they are");
}

TEST(CsvHelpTest, NamesThatStandInTheMiddle) {
  std::string table = "a,b,y\n1,2,3\na,b,y\n";
  for (int i = 0; i < 20; ++i) table += "4,5,6\n";
  EXPECT_EQ(ErrorsOf(table),
            "DIR/t.csv:3:1: error: column 'a': 'a' is not a number; and 2 more such cells: 'b' in "
            "line 3, 'y' in line 3\n"
            "    a,b,y\n"
            "    ^\n"
            "help: the line of the names stands here again: leave it out\n");
}

TEST(CsvHelpTest, ColumnsWithoutAName) {
  const Opened index = CsvBuilder(",a,y\n0,5,1\n1,6,2\n").Label("y", DType::kF32).Open();
  EXPECT_EQ(index.errors,
            "DIR/t.csv:1:1: warning: column 1 has no name, and is a feature\n"
            "    ,a,y\n"
            "    ^\n"
            "help: where it only counts the rows, as the index that pandas writes, leave it out: "
            "`columns` lists the others\n");
  EXPECT_NE(index.dataset, nullptr);
  const std::string end = CsvBuilder("a,y,\n1,2,\n").Label("y", DType::kF32).Open().errors;
  EXPECT_NE(end.find("help: this column has no name: if lines only end with a delimiter, leave it "
                     "out: `columns` lists the others\n"),
            end.npos)
      << end;
}

TEST(CsvHelpTest, OneColumnOfBlanksOrAComment) {
  const std::string blanks = ErrorsOf("a b y\n1 2 3\n");
  EXPECT_NE(blanks.find("help: there is one column only; if single blanks separate them: "
                        "`delimiter: \" \"`\n"),
            blanks.npos)
      << blanks;
  const std::string comment = ErrorsOf("# of 2024\na,b,y\n1,2,3\n");
  EXPECT_NE(comment.find("help: the first line seems to be a comment: leave such lines out\n"),
            comment.npos)
      << comment;
}

// All that a table lacks because of its delimiter, once.
TEST(CsvHelp, AWrongDelimiterIsToldOnce) {
  EXPECT_EQ(
      CsvBuilder("a;b;y\n1;2;3\n").Set("columns", "[a, b]").Label("y", DType::kF32).Open().errors,
      "error: 'DIR/t.csv' has no columns 'y', 'a', 'b'\n"
      "help: there is one column only; if another character separates them: `delimiter: "
      "\";\"`\n");
}

TEST(CsvHelp, OfAnInfiniteNumber) {
  const std::string errors = ErrorsOf("a,b,y\n1,inf,3\n");
  EXPECT_NE(
      errors.find("help: nothing can be learned from such a number: write one that is finite; or "
                  "leave the cell empty, and `missing: mean`"),
      std::string::npos)
      << errors;
}

}  // namespace
}  // namespace cgrun
