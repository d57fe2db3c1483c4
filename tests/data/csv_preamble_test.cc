// CSV: first lines that are no rows, and what they say of the delimiter.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

using Floats = std::vector<float>;

// Returns the note of a table with the rows 1, 2, 3 and 4, 5, 6, or "" if there is none.
std::string NoteOf(DatasetBuilder&& table) {
  const Opened opened = table.Label("y", DType::kF32).Open();
  EXPECT_EQ(opened.errors, "");
  if (opened.dataset == nullptr) return "";
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (Floats{4, 5}));
  const std::vector<std::string> notes = opened.dataset->Notes();
  EXPECT_LE(notes.size(), 1u);
  return notes.empty() ? "" : notes[0].substr(notes[0].find("t.csv'"));
}

TEST(CsvPreambleTest, AFirstLineThatIsPassedOverIsNoted) {
  const std::string table = "a,b,y\n1,2,3\n4,5,6\n", other = "a;b;y\n1;2;3\n4;5;6\n";
  EXPECT_EQ(NoteOf(CsvBuilder(table)), "");
  EXPECT_EQ(NoteOf(CsvBuilder("|1x3 Cross validator\n" + table)),
            "t.csv': its first line, '|1x3 Cross validator', is no row and is passed over");
  EXPECT_EQ(NoteOf(CsvBuilder("sep=;\n" + other)),
            "t.csv': its first line, 'sep=;', is no row and is passed over: it says what separates "
            "fields");
}

TEST(CsvPreambleTest, ADelimiterThatIsGivenCountsWhateverTheFileSays) {
  CsvBuilder comma("sep=;\na,b,y\n1,2,3\n4,5,6\n");
  CsvBuilder tab("sep=,\na\tb\ty\n1\t2\t3\n4\t5\t6\n");
  comma.Set("delimiter", ",");
  tab.Set("delimiter", "tab");
  const std::string note =
      "is no row and is passed over: the option `delimiter` says what separates fields";
  EXPECT_EQ(NoteOf(std::move(comma)), "t.csv': its first line, 'sep=;', " + note);
  EXPECT_EQ(NoteOf(std::move(tab)), "t.csv': its first line, 'sep=,', " + note);
}

}  // namespace
}  // namespace cgrun
