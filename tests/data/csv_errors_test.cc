// CSV: what is refused, where the error stands, and what it says.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

TEST(CsvErrorsTest, NumbersThatAreNone) {
  const auto error = [](const std::string& value) {
    const std::string text = ErrorsOf("a,b,y\n1," + value + ",3\n");
    return text.substr(0, text.find('\n'));
  };
  const std::string place = "DIR/t.csv:2:3: error: column 'b': '";
  for (const char* text : {"x", "1.2.3", "0x10", "1,5e", "--1", "+-1", "1e", "12 34", "1_000"}) {
    if (std::string_view(text).find(',') != std::string_view::npos) continue;
    EXPECT_EQ(error(text), place + text + "' is not a number");
  }
  EXPECT_EQ(error("inf"), place + "inf' is not finite");
  EXPECT_EQ(error("-Infinity"), place + "-Infinity' is not finite");
  EXPECT_EQ(error("1e39"), place + "1e39' is too large for f32");
  EXPECT_EQ(error("-1e999"), place + "-1e999' is too large for f32");
  EXPECT_EQ(error("1e-999"), "");
  EXPECT_EQ(error("1e-42"), "");
  EXPECT_EQ(
      ErrorsOf("a,b,y\n1,setosa,3\n"),
      "DIR/t.csv:2:3: error: column 'b': 'setosa' is not a number\n"
      "    1,setosa,3\n"
      "      ^~~~~~\n"
      "help: write a number here; a column of texts is a category, `categories: [b]`, or left out: "
      "`columns` lists the others\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,\"-2,5\",3\n"),
            "DIR/t.csv:2:3: error: column 'b': '-2,5' is not a number\n"
            "    1,\"-2,5\",3\n"
            "      ^~~~~~\n"
            "help: a fraction is written with a point, as 2.5\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,setosa\n"),
            "DIR/t.csv:2:5: error: label 'y': 'setosa' is not a number\n"
            "    1,2,setosa\n"
            "        ^~~~~~\n"
            "help: a label by name wants an input of int32\n");
  const Opened fraction = DatasetBuilder("csv")
                              .File("t.csv", "a\n1.5\n")
                              .Set("file", "t.csv")
                              .Input("x", DType::kI32, {1})
                              .Open();
  EXPECT_EQ(fraction.errors,
            "DIR/t.csv:2:1: error: column 'a': '1.5' is not an integer\n"
            "    1.5\n"
            "    ^~~\n"
            "help: an input of f32 takes fractions: `x: {type: f32, shape: [1]}`\n");
}

// A measure that is taken for names: what its input is to be.
TEST(CsvErrorsTest, LabelsThatAreFractionsWantAnotherInput) {
  const std::string help =
      "help: a label that is a measure wants an input of f32: `label: {type: f32, shape: []}`";
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,3\n4,5,1.5\n", "y", DType::kI32),
            "DIR/t.csv:3:5: error: this label is not an integer, but the one in line 2 is\n"
            "    4,5,1.5\n"
            "        ^~~\n" +
                help + "\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,0.5\n4,5,1.5\n", "y", DType::kI32),
            "DIR/t.csv:2:5: warning: the labels are numbers, but not whole: they are taken for the "
            "names of 2 classes\n"
            "    1,2,0.5\n"
            "        ^~~\n" +
                help + "\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,\"0,5\"\n4,5,1\n", "y", DType::kI32),
            "DIR/t.csv:2:5: error: this label is not an integer, but the one in line 3 is\n"
            "    1,2,\"0,5\"\n"
            "        ^~~~~\n" +
                help + "; a fraction is written with a point, as 2.5\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,1.5\n4,5,1.5b\n", "y", DType::kI32), "") << "names";
}

TEST(CsvErrorsTest, ACommaIsNoPoint) {
  const auto with_gaps = [](const std::string& missing) {
    return CsvBuilder("a,b\n1,\n").Set("missing", missing).Open().errors;
  };
  EXPECT_EQ(with_gaps("0,5"),
            "error: option 'missing' is '0,5', but must be `error`, `drop`, `zero`, `mean` or a "
            "number\nhelp: a fraction is written with a point, as 2.5\n");
  EXPECT_EQ(with_gaps("0.5"), "");
  EXPECT_EQ(CsvBuilder("a;b\n1,5;2\n3;4\n").Set("delimiter", ";").Open().errors,
            "DIR/t.csv:2:1: error: column 'a': '1,5' is not a number\n"
            "    1,5;2\n"
            "    ^~~\n"
            "help: a fraction is written with a point, as 2.5\n");
}

TEST(CsvErrorsTest, OneCellIsWrongWhereMostAreNumbers) {
  const auto help = [](const std::string& cell) {
    const std::string text = ErrorsOf("a,b,y\n1,2,3\n4,5,6\n7,8,9\n1," + cell + ",2\n");
    const size_t found = text.find("help: ");
    return found == text.npos ? text : text.substr(found);
  };
  EXPECT_EQ(help("n.a."),
            "help: most cells of this column are numbers: write one here; a gap is left empty, and "
            "`missing: mean`, `missing: zero` or a number fills such gaps; `missing: drop` leaves "
            "such lines out\n");
  EXPECT_EQ(help("$285"), "help: leave the sign out: write 285\n");
  EXPECT_EQ(help("\"1,341\""), "help: write 1341, or 1.341 for a fraction\n");
  EXPECT_EQ(help("\"0,341\""), "help: a fraction is written with a point, as 2.5\n");
}

TEST(CsvErrorsTest, NamesOfColumnsMayHoldAnything) {
  EXPECT_EQ(ErrorsOf("a,\"two\nlines\x1B[1m\",y\n1,x,3\n"),
            "DIR/t.csv:3:3: error: column 'two?lines?[1m': 'x' is not a number\n"
            "    1,x,3\n"
            "      ^\n"
            "help: write a number here; a column of texts is a category, `categories: "
            "[two?lines?[1m]`, or left out: "
            "`columns` lists the others\n");
  const std::string header = "a,\"lab\nel\"\n1,2\n";
  const std::string errors = CsvBuilder(header).Label("labl", DType::kF32).Open().errors;
  EXPECT_NE(errors.find("has no column 'labl'"), std::string::npos) << errors;
  EXPECT_EQ(errors.find("lab\nel"), std::string::npos) << errors;
}

TEST(CsvErrorsTest, PlacesCountLinesInsideQuotesAndCharactersNotBytes) {
  EXPECT_EQ(
      ErrorsOf("a,b,y,z\n1,2,3,\"ä\nö\"\n\"1\n\",\"é\",x,0\n"),
      "DIR/t.csv:2:7: error: column 'z': 'ä?ö' is not a number\n"
      "    1,2,3,\"ä\n"
      "          ^~\n"
      "help: write a number here; a column of texts is a category, `categories: [z]`, or left out: "
      "`columns` lists the others\n"
      "DIR/t.csv:4:1: error: column 'a': '1?' is not a number\n"
      "    \"1\n"
      "    ^~\n"
      "help: write a number here; a column of texts is a category, `categories: [a]`, or left out: "
      "`columns` lists the others\n"
      "DIR/t.csv:5:3: error: column 'b': 'é' is not a number\n"
      "    \",\"é\",x,0\n"
      "      ^~~\n"
      "help: write a number here; a column of texts is a category, `categories: [b]`, or left out: "
      "`columns` lists the others\n"
      "DIR/t.csv:5:7: error: label 'y': 'x' is not a number\n"
      "    \",\"é\",x,0\n"
      "          ^\n"
      "help: a label by name wants an input of int32\n");
}

TEST(CsvErrorsTest, SyntaxErrorsStandAtTheirPlace) {
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2\n1,2,3,4\n"),
            "DIR/t.csv:2:1: error: this line has 2 fields, but the first one has 3\n"
            "    1,2\n"
            "    ^~~\n"
            "help: a field may be empty, but the delimiters around it stay\n"
            "DIR/t.csv:3:1: error: this line has 4 fields, but the first one has 3\n"
            "    1,2,3,4\n"
            "    ^~~~~~~\n"
            "help: a field with a delimiter in it stands in quotes\n");
  // One run tells of cells, too, in the order of the lines.
  EXPECT_EQ(ErrorsOf("a,b,y\n1,x,2\n1,2\n"),
            "DIR/t.csv:2:3: error: column 'b': 'x' is not a number\n"
            "    1,x,2\n"
            "      ^\n"
            "help: write a number here; a column of texts is a category, `categories: [b]`, or "
            "left out: `columns` lists "
            "the others\n"
            "DIR/t.csv:3:1: error: this line has 2 fields, but the first one has 3\n"
            "    1,2\n"
            "    ^~~\n"
            "help: a field may be empty, but the delimiters around it stay\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,\"2,3\n4,5,6\n7,8,9\n"),
            "DIR/t.csv:2:3: error: this quote is never closed\n"
            "    1,\"2,3\n"
            "      ^\n"
            "help: a quote inside a quoted field is doubled: \"say \"\"yes\"\"\"\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n1,\"2\"2,3\n"),
            "DIR/t.csv:2:6: error: text behind the closing quote\n"
            "    1,\"2\"2,3\n"
            "         ^\n"
            "help: a quote inside a quoted field is doubled: \"say \"\"yes\"\"\"\n");
  const std::string quoted =
      "help: the fields are separated by ','; if another character separates them: ";
  EXPECT_EQ(ErrorsOf("\"a\";\"b\";\"y\"\n1;2;3\n"),
            "DIR/t.csv:1:4: error: text behind the closing quote\n"
            "    \"a\";\"b\";\"y\"\n"
            "       ^\n" +
                quoted + "`delimiter: \";\"`\n");
  EXPECT_TRUE(ErrorsOf("\"a\"\t\"b\"\n1\t2\n").ends_with(quoted + "`delimiter: \"tab\"`\n"));
  EXPECT_EQ(CsvBuilder("\"a\",\"b\"\n1,2\n").Set("delimiter", ";").Open().errors,
            "DIR/t.csv:1:4: error: text behind the closing quote\n"
            "    \"a\",\"b\"\n"
            "       ^\n"
            "help: the fields are separated by ';'; if another character separates them: "
            "`delimiter: \",\"`\n");
  EXPECT_EQ(
      ErrorsOf("a,b,y\r1,2,3\n"),
      "DIR/t.csv:1:6: error: line ends are mixed: a CR alone stands here, where other lines "
      "end with LF\n"
      "    a,b,y?1,2,3\n"
      "         ^\n"
      "help: all lines of a file end alike, with LF, CRLF or CR: `tr '\\r' '\\n' < FILE > NEW` "
      "makes each of them an LF\n");
  EXPECT_NE(ErrorsOf("a,b,y\r1,2,3\r\n").find("where other lines end with CRLF"),
            std::string::npos);
  EXPECT_EQ(ErrorsOf(std::string("a,b,y\n0.25,0.75,1\n1,2\0,3\n", 25)),
            "DIR/t.csv:3:4: error: a NUL byte\n"
            "    1,2?,3\n"
            "       ^\n"
            "help: is this a CSV file?\n");
  EXPECT_EQ(ErrorsOf(std::string("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16)),
            "error: 'DIR/t.csv': this is no text, but binary data\n"
            "help: a table is text, with a row a line; a spreadsheet can be saved as CSV\n");
  EXPECT_EQ(ErrorsOf("\xFF\xFE"
                     "a\0"),
            "error: 'DIR/t.csv' is in UTF-16\n"
            "help: save the file as UTF-8, or convert it: `iconv -f utf-16 -t utf-8 FILE > NEW`\n");
  EXPECT_EQ(
      ErrorsOf(std::string_view("a\0,\0b\0\n\0", 8)),
      "error: 'DIR/t.csv' is in UTF-16\n"
      "help: save the file as UTF-8, or convert it: `iconv -f utf-16le -t utf-8 FILE > NEW`\n");
  EXPECT_EQ(ErrorsOf(""), "error: 'DIR/t.csv' is empty\n");
  EXPECT_EQ(ErrorsOf("a,b,y\n"), "error: 'DIR/t.csv' holds no samples below its header\n");
}

TEST(CsvErrorsTest, NamesAreInUtf8) {
  const std::string help =
      "help: save the file as UTF-8, or convert it: `iconv -f latin1 -t utf-8 FILE > NEW`\n";
  EXPECT_EQ(
      ErrorsOf("a,b,y\n1,2,caf\xE9\n3,4,th\xE9\n5,6,tea\n", "y", DType::kI32),
      "DIR/t.csv:2:5: error: label 'y': 'caf?' is not in UTF-8: its byte 0xE9 is no part of a "
      "character; and 1 more such cell: 'th?' in line 3\n"
      "    1,2,caf?\n"
      "        ^~~~\n" +
          help);
  const std::string quotes = ErrorsOf("a,b,y\n1,2,\x93x\x94\n", "y", DType::kI32);
  EXPECT_NE(quotes.find("`iconv -f cp1252 -t utf-8 FILE > NEW`"), quotes.npos) << quotes;
  const Opened tea = CsvBuilder("a,b,y\n1,2,tea\n3,4,x\n").Label("y", DType::kI32).Open();
  const std::string other =
      CsvBuilder("a,b,y\n1,2,th\xE9\n").Label("y", DType::kI32).Train(*tea.dataset).Open().errors;
  EXPECT_EQ(std::ranges::count(other, '^'), 1) << "not that it is no class, too\n" << other;
  EXPECT_EQ(CsvBuilder("a,town\n1,K\xF6ln\n", 1)
                .Set("categories", "town")
                .Input("town", DType::kI32, {})
                .Open()
                .errors,
            "DIR/t.csv:2:3: error: column 'town': 'K?ln' is not in UTF-8: its byte 0xF6 is no part "
            "of a character\n"
            "    1,K?ln\n"
            "      ^~~~\n" +
                help);
  EXPECT_EQ(CsvBuilder("a,b,note\n1,2,caf\xE9\n").Set("columns", "[a, b]").Open().errors, "");
}

TEST(CsvErrorsTest, NamesOfColumnsAreInUtf8) {
  EXPECT_EQ(CsvBuilder("gr\xF6\xDF"
                       "e,b\n1,2\n")
                .Open()
                .errors,
            "DIR/t.csv:1:1: warning: the name of this column is not in UTF-8: its byte 0xF6 is no "
            "part of a character\n"
            "    gr??e,b\n"
            "    ^~~~~\n"
            "help: save the file as UTF-8, or convert it: `iconv -f latin1 -t utf-8 FILE > NEW`\n");
  const std::string absent = ErrorsOf("a,b,pr\xEFx\n1,2,3\n", "pr\xC3\xAFx");
  EXPECT_NE(absent.find("help: its column 'pr?x' is not in UTF-8: its byte 0xEF is no part of a "
                        "character; save the file as UTF-8"),
            absent.npos)
      << absent;
}

TEST(CsvErrorsTest, ManyErrorsOfAColumnAreCounted) {
  std::string texts = "a,b,y\n", gaps = texts;
  for (int i = 0; i < 1000; ++i) {
    texts += "x,1,2\n";
    gaps += "1,,2\n";
  }
  EXPECT_EQ(
      ErrorsOf(texts),
      "DIR/t.csv:2:1: error: column 'a': 'x' is not a number; and 999 more such cells: 'x' in "
      "line 3, 'x' in line 4, 'x' in line 5, …\n"
      "    x,1,2\n"
      "    ^\n"
      "help: write a number here; a column of texts is a category, `categories: [a]`, or left out: "
      "`columns` lists "
      "the others\n");
  EXPECT_EQ(ErrorsOf(gaps),
            "DIR/t.csv:2:3: error: column 'b' has no value here; and 999 more such cells, in the "
            "lines 3, 4, 5, …\n"
            "    1,,2\n"
            "      ^\n"
            "help: `missing: mean`, `missing: zero` or a number fills such gaps; "
            "`missing: drop` leaves such lines out\n");
}

// Those of a column are counted apart where they are mended in other ways.
TEST(CsvErrorsTest, KindsOfErrorsOfAColumnAreCountedApart) {
  const std::string errors = ErrorsOf("a,b,y\n1,x,2\n1,,2\n1,\"2,5\",2\n1,,2\n1,z,2\n");
  EXPECT_EQ(std::ranges::count(errors, '^'), 3) << errors;
  for (const char* part : {"t.csv:2:3: error: column 'b': 'x' is not a number; and 1 more such "
                           "cell: 'z' in line 6\n",
                           "t.csv:3:3: error: column 'b' has no value here; and 1 more such cell, "
                           "in line 5\n",
                           "t.csv:4:3: error: column 'b': '2,5' is not a number\n"}) {
    EXPECT_NE(errors.find(part), std::string::npos) << part << "\n" << errors;
  }
}

TEST(CsvErrorsTest, ManyColumnsOfErrorsShareAMessage) {
  std::string row = "x", head = "c0";
  for (int i = 1; i < 100; ++i) {
    row += ",x";
    head += ",c" + std::to_string(i);
  }
  std::string table = head + "\n";
  for (int i = 0; i < 50; ++i) table += row + "\n";
  const std::string errors = CsvBuilder(table, 100).Open().errors;
  EXPECT_EQ(std::ranges::count(errors, '^'), 20 + 1) << "columns and the others";
  EXPECT_NE(errors.find("column 'c0': 'x' is not a number; and 49 more such cells"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("and 4000 more such cells in 80 other columns"), std::string::npos)
      << errors;
}

TEST(CsvErrorsTest, MoreCategoriesThanThereCanBe) {
  std::string table = "town,b,y\n";
  for (int i = 0; i <= 65536; ++i) table += "t" + std::to_string(i) + ",1,2\n";
  const std::string errors =
      CsvBuilder(table, 1).Label("y", DType::kF32).Set("categories", "town").Open().errors;
  EXPECT_NE(errors.find("column 'town' has more than 65536 categories\n"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("help: is it a number, or one of each row's own?"), std::string::npos)
      << errors;
}

TEST(CsvErrorsTest, ColumnsWithoutANameShareAWarning) {
  const Opened opened = CsvBuilder(",,,y\n1,2,3,4\n", 3).Label("y", DType::kF32).Open();
  EXPECT_NE(opened.errors.find("column 1 has no name, and is a feature (and 2 columns more)\n"),
            std::string::npos)
      << opened.errors;
}

TEST(CsvErrorsTest, ManyLinesThatAreWrongAreCutOff) {
  std::string table = "a,b,y\n";
  for (int i = 0; i < 1000; ++i) table += "1,2\n";
  const std::string errors = ErrorsOf(table);
  EXPECT_TRUE(errors.starts_with("DIR/t.csv:2:1: error: ")) << errors;
  EXPECT_TRUE(errors.ends_with("\nDIR/t.csv: error: further errors of this file are not shown\n"));
  EXPECT_NE(errors.find("DIR/t.csv:21:1: error: "), std::string::npos);
  EXPECT_EQ(errors.find("DIR/t.csv:22:1: error: "), std::string::npos);
}

TEST(CsvErrorsTest, GroupsOfThousandsAreNoNumbers) {
  const auto with = [](const std::string& cell) {
    return CsvBuilder("a;b;y\n1;" + cell + ";3\n")
        .Set("delimiter", ";")
        .Label("y", DType::kF32)
        .Open()
        .errors;
  };
  EXPECT_EQ(with("1,234,567"),
            "DIR/t.csv:2:3: error: column 'b': '1,234,567' is not a number\n"
            "    1;1,234,567;3\n"
            "      ^~~~~~~~~\n"
            "help: write 1234567: no mark stands between the thousands of a number\n");
  for (const auto& [cell, number] : {std::pair("+1,234,567", "1234567"),
                                     {"-1.234,56", "-1234.56"},
                                     {"1,234.5", "1234.5"},
                                     {"1 234", "1234"},
                                     {"1'234", "1234"},
                                     {"12_345_678,9", "12345678.9"},
                                     {"1\u202f234", "1234"}}) {
    const std::string help = std::string("help: write ") + number + ": no mark";
    EXPECT_NE(with(cell).find(help), std::string::npos) << cell << ": " << with(cell);
  }
  EXPECT_NE(with("1.234.567").find("help: write 1234567: no mark"), std::string::npos);
  EXPECT_NE(with("$1,234,567").find("help: leave the sign out: write 1234567: no mark"),
            std::string::npos);
  for (const char* cell : {"1,234", "0,123,456", "1234,567,890", "1,23,456", "1 23", "1,234,56x"}) {
    EXPECT_EQ(with(cell).find("no mark"), std::string::npos) << cell;
    EXPECT_NE(with(cell).find("is not a number"), std::string::npos) << cell;
  }
}

TEST(CsvErrorsTest, AHeaderOfNumbersIsDoubted) {
  const Opened opened = CsvBuilder("1,2,3\n4,5,6\n").Label("3", DType::kF32).Open();
  EXPECT_EQ(opened.errors,
            "DIR/t.csv:1:1: warning: the first line is taken for the names of the columns, but "
            "holds numbers\n"
            "    1,2,3\n"
            "    ^~~~~\n"
            "help: `header: false` says that there are no names\n");
  EXPECT_NE(opened.dataset, nullptr);
  const std::string iris = ErrorsOf("5.1,3.5,setosa\n4.9,3.0,setosa\n", "species", DType::kI32);
  EXPECT_NE(iris.find("warning: the first line is taken for the names of the columns"), iris.npos);
  EXPECT_NE(iris.find("error: 'DIR/t.csv' has no column 'species'\n"
                      "help: the first line looks like values, not names: `header: false` says "
                      "that there are no names, and columns are counted then: from 1, -1 is the "
                      "last\n"),
            iris.npos)
      << iris;
  EXPECT_EQ(ErrorsOf("5,3,setosa\n4,3,setosa\n", "species", DType::kI32),
            "error: 'DIR/t.csv' has no column 'species'\n"
            "help: known: 5, 3, setosa; if these are values: `header: false` says that there are "
            "no names, and columns are counted then: from 1, -1 is the last\n");
  EXPECT_EQ(ErrorsOf("town,2019,2020,y\n1,2,3,4\n"), "") << "years may be names";
}

TEST(CsvErrorsTest, ColumnsWithoutNamesAreCounted) {
  const auto errors = [](const std::string& label) {
    return CsvBuilder("a,b,y\n1,2,3\n")
        .Set("header", "false")
        .Label(label, DType::kF32)
        .Open()
        .errors;
  };
  EXPECT_EQ(errors("town"),
            "error: 'DIR/t.csv' has no column 'town'\n"
            "help: with `header: false` a column is called by its number: from 1 to 3, -1 is the "
            "last\n");
  EXPECT_EQ(errors("y"),
            "error: 'DIR/t.csv' has no column 'y'\n"
            "help: the first line has this name: leave `header: false` out, or write 3\n");
}

TEST(CsvErrorsTest, FeaturesOfOneNameAreWarnedOf) {
  const Opened opened = CsvBuilder("a,a,y\n1,2,3\n").Label("y", DType::kF32).Open();
  EXPECT_EQ(
      opened.errors,
      "DIR/t.csv:1:3: warning: the columns 1 and 2 are both called 'a', and both are features\n"
      "    a,a,y\n"
      "      ^\n"
      "help: give each a name of its own, or list those to take, by their numbers: "
      "`columns: [1, 2]`\n");
  EXPECT_NE(opened.dataset, nullptr);
  EXPECT_EQ(
      CsvBuilder("a,a,y\n1,2,3\n").Train(*opened.dataset).Label("y", DType::kF32).Open().errors,
      "");
  EXPECT_EQ(
      CsvBuilder("a,a,y\n1,2,3\n").Set("columns", "[1, 2]").Label("y", DType::kF32).Open().errors,
      "");
}

}  // namespace
}  // namespace cgrun
