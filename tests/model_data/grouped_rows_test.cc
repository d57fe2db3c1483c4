// Tables are written into a folder of the test's own.
#include "src/model_data/grouped_rows.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "src/io/read_file.h"

namespace cgrun {
namespace {

std::string Write(const std::string& text) {
  const std::string path = testing::TempDir() + "/grouped_rows.csv";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

GroupedRows Read(const std::string& text, GroupNames& names, Diagnostics& diagnostics,
                 const CsvOptions& csv = {}, const std::string& column = "user",
                 bool is_complete = false) {
  return GroupedRows(Write(text), csv, column, names, is_complete, kNoLimit, diagnostics);
}

CsvOptions WithDelimiter(char character) {
  CsvOptions csv;
  csv.delimiter = {character, /*given=*/true};
  return csv;
}

CsvOptions WithoutHeader() {
  CsvOptions csv;
  csv.header = false;
  return csv;
}

CsvOptions Dropping() {
  CsvOptions csv;
  csv.missing = CsvMissing::kDrop;
  return csv;
}

// The texts of a group's rows, without their line ends.
std::vector<std::string> TextsOf(const GroupedRows& rows, int64_t group) {
  std::vector<std::string> texts;
  for (const int32_t row : rows.PartOf(group).rows) {
    std::string text(rows.table().text(row));
    text.resize(text.find_last_not_of("\r\n") + 1);
    texts.push_back(text);
  }
  return texts;
}

TEST(GroupedRowsTest, RowsKeepTheirOrderInEachGroup) {
  GroupNames names;
  Diagnostics diagnostics;
  const GroupedRows rows = Read("user,x\nb,1\na,2\nb,3\n\nc,4\na,5\n", names, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  EXPECT_EQ(names.all(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(TextsOf(rows, 0), (std::vector<std::string>{"b,1", "b,3"}));
  EXPECT_EQ(TextsOf(rows, 1), (std::vector<std::string>{"a,2", "a,5"}));
  EXPECT_EQ(TextsOf(rows, 2), (std::vector<std::string>{"c,4"}));
  EXPECT_EQ(rows.rows(), 5);
  EXPECT_EQ(rows.table().line(rows.PartOf(2).rows[0]), 6) << "of the file, with its empty line";
}

TEST(GroupedRowsTest, NamesAreTextsWithoutTheirQuotesAndBlanks) {
  GroupNames names;
  Diagnostics diagnostics;
  const GroupedRows rows = Read(
      "x,user\r\n1, a \r\n2,\"a\"\r\n3,\"a, \"\"b\"\"\nc\"\r\n4,07\r\n5,7\r\n", names, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
  EXPECT_EQ(names.all(), (std::vector<std::string>{"a", "a, \"b\"\nc", "07", "7"}));
  EXPECT_EQ(rows.RowsOf(0), 2);
}

TEST(GroupedRowsTest, APartReadsAsAFileOfItsOwn) {
  GroupNames names;
  Diagnostics diagnostics;
  const GroupedRows rows =
      Read("user;x\na;1\nb;\"2;\n3\"\na;4\n", names, diagnostics, WithDelimiter(';'));
  const TablePart part = rows.PartOf(1);
  CsvReader reader(part, diagnostics);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.fields()[0].text, "user");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.fields()[1].text, "2;\n3");
  EXPECT_EQ(reader.line(), 3);
  EXPECT_EQ(reader.MarkOf(reader.fields()[1]).ToString().substr(0, 3), Write("").substr(0, 3))
      << "the mark names the file";
  EXPECT_FALSE(reader.Next());
}

TEST(GroupedRowsTest, AColumnCanBeCalledByItsNumber) {
  for (const std::string column : {"1", "-2"}) {
    GroupNames names;
    Diagnostics diagnostics;
    const GroupedRows rows = Read("a,1\nb,2\na,3\n", names, diagnostics, WithoutHeader(), column);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    EXPECT_EQ(TextsOf(rows, 0), (std::vector<std::string>{"a,1", "a,3"})) << column;
  }
}

TEST(GroupedRowsTest, RowsOfOtherGroupsStray) {
  GroupNames names(std::vector<std::string>{"a", "b"});
  Diagnostics diagnostics;
  const GroupedRows rows = Read("user,x\nz,1\na,2\ny,3\n", names, diagnostics, {}, "user", true);
  EXPECT_EQ(names.count(), 2);
  EXPECT_EQ(rows.stray_count(), 2);
  EXPECT_EQ(rows.strays()[1].name, "y");
  EXPECT_EQ(rows.strays()[1].mark.line, 4);
  EXPECT_EQ(rows.RowsOf(0), 1);
  EXPECT_EQ(rows.RowsOf(1), 0);
}

TEST(GroupedRowsTest, MistakesAreReportedAtTheirPlaces) {
  GroupNames names;
  Diagnostics diagnostics;
  Read("user,x\na,1\nNA,2\nb\n", names, diagnostics);
  const std::string text = diagnostics.ToString();
  EXPECT_EQ(diagnostics.error_count(), 2) << text;
  EXPECT_NE(text.find(":3:1: error: column 'user' has no value here"), text.npos) << text;
  EXPECT_NE(text.find(":4:1: error: this line has 1 field, but the first one has 2"), text.npos)
      << text;
  Diagnostics dropped;
  Read("user,x\na,1\n,2\n", names, dropped, Dropping());
  EXPECT_FALSE(dropped.has_errors()) << dropped.ToString();
  Diagnostics unknown;
  Read("usr,x\na,1\n", names, unknown);
  EXPECT_NE(unknown.ToString().find("did you mean 'usr'?"), text.npos) << unknown.ToString();
}

TEST(GroupedRowsTest, TooMuchTextIsRefused) {
  GroupNames names;
  Diagnostics diagnostics;
  const std::string path = Write("user,x\na,1\nb,2\n");
  EXPECT_THROW(GroupedRows(path, {}, "user", names, false, 10, diagnostics), UserError);
}

}  // namespace
}  // namespace cgrun
