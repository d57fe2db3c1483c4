// CSV: every option, gaps, classes, memory, and a round trip of any table. (csv_errors_test.cc has
// the errors.)
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/base/allocation_counter.h"
#include "src/data/sampler.h"
#include "src/data/text_number.h"
#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

using Floats = std::vector<float>;
using Labels = std::vector<int32_t>;

TEST(CsvTest, ReadsFeaturesAndALabel) {
  const Opened opened = CsvBuilder("a,y,b\n1,10,2.5\n-3,20,4e2\n").Label("y", DType::kF32).Open();
  ASSERT_EQ(opened.errors, "");
  const Dataset& set = *opened.dataset;
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.fields(),
            (std::vector<DataField>{{"features", DType::kF32, {2}}, {"label", DType::kF32, {}}}));
  EXPECT_EQ(ReadField<float>(set, 0, 0), (Floats{1.0f, 2.5f}));
  EXPECT_EQ(ReadField<float>(set, 1, 0), (Floats{-3.0f, 400.0f}));
  EXPECT_EQ(ReadField<float>(set, 1, 1), (Floats{20.0f}));
  EXPECT_EQ(set.decoded_bytes(), 2 * 3 * 4);
}

TEST(CsvTest, EveryWayOfWritingATableGivesTheSame) {
  const std::string plain = "a,b,y\n1,2,3\n4,5,6\n";
  const std::string same[] = {plain,
                              "a,b,y\n1,2,3\n4,5,6",          // no line end at the end
                              "a,b,y\r\n1,2,3\r\n4,5,6\r\n",  // CRLF
                              "\xEF\xBB\xBF"
                              "a,b,y\n1,2,3\n4,5,6\n",                          // a byte order mark
                              "\n\na,b,y\n\n1,2,3\n\r\n4,5,6\n\n",              // empty lines
                              "\"a\",\"b\",\"y\"\n\"1\",2,\"3\"\n4,\"5\",6\n",  // quotes
                              " a , b\t, y \n 1 ,\t2, 3\n4 ,5 ,6\n",            // blanks
                              "a,b,y\n+1,2.0,3e0\n0.4e1,5.,6\n",                // numbers
                              "a,b,y\r1,2,3\r4,5,6\r",                          // CR
                              "a,b,y\r1,2,3\r\r4,5,6",
                              "sep=;\na;b;y\n1;2;3\n4;5;6\n",  // Excel's
                              "SEP=;\na;b;y\n1;2;3\n4;5;6\n",
                              "\"sep=;\"\na;b;y\n1;2;3\n4;5;6\n",
                              "sep=,\r\na,b,y\r\n1,2,3\r\n4,5,6\r\n",
                              "|1x3 Cross validator\na,b,y\n1,2,3\n4,5,6\n",  // C4.5's
                              Gzip(plain)};
  for (const std::string& text : same) {
    const Opened opened = CsvBuilder(text).Label("y", DType::kF32).Open();
    ASSERT_EQ(opened.errors, "") << text;
    ASSERT_EQ(opened.dataset->size(), 2) << text;
    EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{1, 2})) << text;
    EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (Floats{4, 5})) << text;
    EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 1), (Floats{6})) << text;
  }
}

TEST(CsvTest, QuotedFieldsHoldDelimitersQuotesAndLineEnds) {
  const Opened opened =
      CsvBuilder("\"a, \"\"the\nfirst\"\"\",b,y\n1,2,\"say \"\"yes\"\"\r\nor no\"\n3,4,\"x,y\"\n")
          .Label("y", DType::kI32)
          .Set("columns", "[b]")
          .Open();
  ASSERT_EQ(opened.errors, "");
  const auto names = opened.dataset->ClassNames(1);
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            (std::vector<std::string>{"say \"yes\"\r\nor no", "x,y"}));
  const Opened named = CsvBuilder("\"a, \"\"b\"\"\",y\n1,2\n", 1)
                           .Set("columns", "a, \"b\"")
                           .Label("y", DType::kF32)
                           .Open();
  EXPECT_EQ(named.errors, "");
}

TEST(CsvTest, DelimitersAndHeaders) {
  const Opened semicolon = CsvBuilder("1;2;3\n4;5;6\n")
                               .Set("header", "false")
                               .Set("delimiter", ";")
                               .Label("-1", DType::kF32)
                               .Open();
  ASSERT_EQ(semicolon.errors, "");
  EXPECT_EQ(ReadField<float>(*semicolon.dataset, 1, 0), (Floats{4, 5}));
  const Opened tab =
      CsvBuilder("a\tb\ty\n1\t2\t3\n").Set("delimiter", "tab").Label("2", DType::kF32).Open();
  ASSERT_EQ(tab.errors, "");
  EXPECT_EQ(ReadField<float>(*tab.dataset, 0, 0), (Floats{1, 3}));
  EXPECT_EQ(ReadField<float>(*tab.dataset, 0, 1), (Floats{2}));
}

TEST(CsvTest, ColumnsChooseAndOrder) {
  const Opened opened =
      CsvBuilder("id,a,b,y\nx,1,2,3\n").Set("columns", "[b, 2]").Label("y", DType::kF32).Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{2, 1}));
  const Opened alone = CsvBuilder("a,b\n1,2\n").Open();  // no label
  ASSERT_EQ(alone.errors, "");
  EXPECT_EQ(alone.dataset->fields().size(), 1u);
}

TEST(CsvTest, SeveralLabels) {
  const std::string table = "a,b,u,v\n1,2,3,4\n";
  const Opened together = CsvBuilder(table).Label("[u, v]", DType::kF32, {2}).Open();
  ASSERT_EQ(together.errors, "");
  EXPECT_EQ(ReadField<float>(*together.dataset, 0, 1), (Floats{3, 4}));
  const Opened apart = CsvBuilder(table)
                           .Set("label", "[u, v]")
                           .Input("u", DType::kI32, {})
                           .Input("v", DType::kF64, {})
                           .Open();
  ASSERT_EQ(apart.errors, "");
  EXPECT_EQ(apart.dataset->fields()[1].name, "u");
  EXPECT_EQ(ReadField<int32_t>(*apart.dataset, 0, 1), (Labels{3}));
  EXPECT_EQ(ReadField<double>(*apart.dataset, 0, 2), (std::vector<double>{4}));
}

TEST(CsvTest, FeaturesTakeTheInputsTypeAndShape) {
  const Opened opened = DatasetBuilder("csv")
                            .File("t.csv", "0,255,7,8,3\n")
                            .Set("file", "t.csv")
                            .Set("header", "false")
                            .Set("label", "5")
                            .Input("image", DType::kU8, {1, 2, 2})
                            .Input("digit", DType::kI32, {})
                            .Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->fields()[0], (DataField{"features", DType::kU8, {1, 2, 2}}));
  EXPECT_EQ(ReadField<uint8_t>(*opened.dataset, 0, 0), (std::vector<uint8_t>{0, 255, 7, 8}));
}

TEST(CsvTest, NamesBecomeLabels) {
  const std::string table = "a,b,y\n1,2,dog\n3,4,cat\n5,6,dog\n";
  const Opened sorted = CsvBuilder(table).Label("y", DType::kI32).Open();
  ASSERT_EQ(sorted.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*sorted.dataset, 0, 1), (Labels{1}));
  EXPECT_EQ(ReadField<int32_t>(*sorted.dataset, 1, 1), (Labels{0}));
  EXPECT_EQ(sorted.dataset->ClassNames(1)[0], "cat");
  EXPECT_TRUE(sorted.dataset->ClassNames(0).empty());
  const Opened listed =
      CsvBuilder(table).Set("classes", "[fish, dog, cat]").Label("y", DType::kI32).Open();
  ASSERT_EQ(listed.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*listed.dataset, 1, 1), (Labels{2}));
}

TEST(CsvTest, OtherSetsShareTheClassesOfTheTrainingSet) {
  const Opened train =
      CsvBuilder("a,b,y\n1,2,dog\n3,4,cat\n5,6,ant\n").Label("y", DType::kI32).Open();
  const Opened test =
      CsvBuilder("a,b,y\n1,2,dog\n").Label("y", DType::kI32).Train(*train.dataset).Open();
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*test.dataset, 0, 1), (Labels{2}));
  EXPECT_EQ(
      CsvBuilder("a,b,y\n1,2,dgo\n").Label("y", DType::kI32).Train(*train.dataset).Open().errors,
      "DIR/t.csv:2:5: error: label 'y': 'dgo' is none of the classes of the training data\n"
      "    1,2,dgo\n"
      "        ^~~\n"
      "help: did you mean 'dog'?\n");
  const Opened integers = CsvBuilder("a,b,y\n1,2,0\n").Label("y", DType::kI32).Open();
  EXPECT_EQ(
      CsvBuilder("a,b,y\n1,2,dog\n").Label("y", DType::kI32).Train(*integers.dataset).Open().errors,
      "DIR/t.csv:2:5: error: label 'y': 'dog' is not a number\n"
      "    1,2,dog\n"
      "        ^~~\n"
      "help: the labels of the training data are integers\n");
}

TEST(CsvTest, LabelsAreKnownByTheirLines) {
  CsvBuilder builder("a,y\n1,cat\n\n\"2\n\", dog\n?,cat\n3,\"a \"\"fox\"\"\"\n");
  builder.Label("y", DType::kI32).Set("missing", "drop").Set("columns", "a").Set("categories", "a");
  builder.Input("a", DType::kI32, {});
  const Opened opened = builder.Open();
  ASSERT_EQ(opened.errors, "");
  ASSERT_EQ(opened.dataset->size(), 3);
  EXPECT_EQ(opened.dataset->decoded_bytes(), 3 * (4 + 4 + 4)) << "a line a label";
  const auto place = [&](int64_t sample) {
    const SamplePlace place = opened.dataset->PlaceOf(1, sample, std::nullopt);
    EXPECT_TRUE(place.in_file());
    return std::to_string(place.mark.line) + ":" + std::to_string(place.mark.column);
  };
  EXPECT_EQ(place(0), "2:3");
  EXPECT_EQ(place(1), "5:3");
  EXPECT_EQ(place(2), "7:3");
}

TEST(CsvTest, IntegersAreKnownByTheirCells) {
  DatasetBuilder builder("csv");  // the file is there as long as it
  builder.File("t.csv", "a,town,b,y\n1,Rom,7,x\n2,\"Bonn\",9,y\n").Set("file", "t.csv");
  builder.Set("categories", "town").Input("ids", DType::kI32, {2});
  builder.Input("town", DType::kI32, {}).Label("y", DType::kI32);
  const Opened opened = builder.Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->decoded_bytes(), 2 * (8 + 4 + 4 + 4)) << "a line a row";
  const auto place = [&](size_t field, int64_t sample, int64_t value) {
    const SamplePlace place = opened.dataset->PlaceOf(field, sample, value);
    EXPECT_TRUE(place.in_file());
    return std::to_string(place.mark.line) + ":" + std::to_string(place.mark.column) + place.text;
  };
  EXPECT_EQ(place(0, 1, 2), "3:1");
  EXPECT_EQ(place(0, 1, 9), "3:10");
  EXPECT_EQ(place(1, 0, 2), "2:3'Rom'");
  EXPECT_EQ(place(1, 1, 1), "3:3'Bonn'");
  EXPECT_EQ(place(2, 0, 0), "2:9'x'");
}

TEST(CsvTest, IntegersStayAsTheyAre) {
  const Opened opened =
      CsvBuilder("a,b,y\n1,2,7\n3,4,-1\n5,6,3.0\n").Label("y", DType::kI32).Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 1), (Labels{7}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 2, 1), (Labels{3}));
  EXPECT_TRUE(opened.dataset->ClassNames(1).empty());
  EXPECT_EQ(RangeOf(*opened.dataset, 1)->smallest.sample, 1);
  EXPECT_EQ(RangeOf(*opened.dataset, 1)->smallest.mark.line, 3) << "though the file is gone";
  EXPECT_EQ(ErrorsOf("a,b,y\n1,2,3\n4,5,6O\n", "y", DType::kI32),
            "DIR/t.csv:3:5: error: this label is not an integer, but the one in line 2 is\n"
            "    4,5,6O\n"
            "        ^~\n"
            "help: if they are names all the same, list them: `classes: [a, b, c]`\n");
}

TEST(CsvTest, LinesWithGapsAreDropped) {
  const std::string table = "a,b,c,y\n1,2,,dog\n3,NA,5,cat\n4,5,6,\n7,8,9,\"NA\"\n";
  const Opened opened = CsvBuilder(table)
                            .Set("columns", "[a, b]")
                            .Set("missing", "drop")
                            .Label("y", DType::kI32)
                            .Open();
  ASSERT_EQ(opened.errors, "");
  ASSERT_EQ(opened.dataset->size(), 2) << "a gap in a column that is not used does not count";
  EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{1, 2}));
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (Floats{7, 8}));
  EXPECT_EQ(opened.dataset->ClassNames(1)[0], "NA");
  EXPECT_EQ(opened.dataset->ClassNames(1).size(), 2u) << "of lines that are left";
  EXPECT_EQ(CsvBuilder("a,b\n1,\n,2\n").Set("missing", "drop").Open().errors,
            "error: 'DIR/t.csv' holds no samples: all of its 2 rows have gaps, and `missing: drop` "
            "leaves them out\nhelp: `missing: mean` or `missing: zero` fills the gaps\n");
}

TEST(CsvTest, LinesWithoutALabelAreDroppedWhereFeaturesAreFilled) {
  const auto open = [](const std::string& table, const std::string& missing) {
    CsvBuilder builder(table);
    return builder.Set("missing", missing)
        .Set("missing_label", "drop")
        .Label("y", DType::kF32)
        .Open();
  };
  const Opened opened = open("a,b,y\n1,,0\n3,4,\n5,6,?\n7,8,1\n", "mean");
  ASSERT_EQ(opened.errors, "");
  ASSERT_EQ(opened.dataset->size(), 2);
  EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{1, 8})) << "of lines that are left";
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (Floats{7, 8}));
  EXPECT_NE(open("a,b,y\n1,,0\n", "error").errors.find("column 'b' has no value here"),
            std::string::npos);
  EXPECT_EQ(
      open("a,b,y\n1,2,\n3,4,NA\n", "zero").errors,
      "error: 'DIR/t.csv' holds no samples with a label: `missing_label: drop` leaves out all "
      "of its 2 rows\n");
  EXPECT_EQ(CsvBuilder("a,b,y\n1,2,\n").Label("y", DType::kF32).Open().errors,
            "DIR/t.csv:2:5: error: label 'y' has no value here\n"
            "    1,2,\n"
            "        ^\n"
            "help: a sample needs its label: `missing_label: drop` leaves such lines out\n");
}

TEST(CsvTest, GapsAreErrorsUnlessTheyAreFilled) {
  const std::string table = "a,b,y\n1,,0\nNA,2,0\nnan,?,0\n3,4,0\n";
  const auto fill = [&](const std::string& how) {
    const Opened opened = CsvBuilder(table).Set("missing", how).Label("y", DType::kF32).Open();
    EXPECT_EQ(opened.errors, "");
    Floats values;
    for (int64_t i = 0; i < 4; ++i) {
      for (float value : ReadField<float>(*opened.dataset, i, 0)) values.push_back(value);
    }
    return values;
  };
  EXPECT_EQ(fill("zero"), (Floats{1, 0, 0, 2, 0, 0, 3, 4}));
  EXPECT_EQ(fill("-1.5"), (Floats{1, -1.5, -1.5, 2, -1.5, -1.5, 3, 4}));
  EXPECT_EQ(fill("mean"), (Floats{1, 3, 2, 2, 2, 3, 3, 4}));
  EXPECT_EQ(CsvBuilder("a,b,y\n1,,0\n").Label("y", DType::kF32).Open().errors,
            "DIR/t.csv:2:3: error: column 'b' has no value here\n"
            "    1,,0\n"
            "      ^\n"
            "help: `missing: mean`, `missing: zero` or a number fills such gaps; `missing: drop` "
            "leaves such lines out\n");
  EXPECT_EQ(
      CsvBuilder("a,b,y\n1,2,?\n").Set("missing", "zero").Label("y", DType::kF32).Open().errors,
      "DIR/t.csv:2:5: error: label 'y' has no value here\n"
      "    1,2,?\n"
      "        ^\n"
      "help: a sample needs its label: `missing_label: drop` leaves such lines out\n");
  EXPECT_EQ(CsvBuilder("a,b,y\n1,,2\n3,,4\n")
                .Set("missing", "mean")
                .Label("y", DType::kF32)
                .Open()
                .errors,
            "error: 'DIR/t.csv': column 'b' has no value at all, so it has no mean\n");
}

TEST(CsvTest, MeansAreThoseOfTheTrainingSet) {
  const Opened train = CsvBuilder("a,b\n1,10\n3,\n").Set("missing", "mean").Open();
  const Opened test = CsvBuilder("a,b\n,\n").Set("missing", "mean").Train(*train.dataset).Open();
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(ReadField<float>(*test.dataset, 0, 0), (Floats{2, 10}));
}

// A training table needs no gaps, nor means of its own, to fill those of another.
TEST(CsvTest, MeansAreThoseOfATrainingSetThatFillsNoGaps) {
  const Opened whole = CsvBuilder("a,b\n1,10\n3,20\n").Open();
  const Opened zeros = CsvBuilder("a,b\n1,10\n3,\n").Set("missing", "zero").Open();
  const std::string table = "a,b\n,\n100,200\n";
  const Opened valid = CsvBuilder(table).Set("missing", "mean").Train(*whole.dataset).Open();
  ASSERT_EQ(valid.errors, "");
  EXPECT_EQ(ReadField<float>(*valid.dataset, 0, 0), (Floats{2, 15}));
  const Opened test = CsvBuilder(table).Set("missing", "mean").Train(*zeros.dataset).Open();
  EXPECT_EQ(ReadField<float>(*test.dataset, 0, 0),
            (Floats{2, 10}));  // what stands for a gap is none

  const Opened empty = CsvBuilder("a,b\n1,\n3,\n").Set("missing", "7").Open();
  EXPECT_EQ(CsvBuilder(table).Set("missing", "mean").Train(*empty.dataset).Open().errors,
            "error: 'DIR/t.csv': column 'b' has no value at all in the training data, so it has no "
            "mean\n");
  const Opened no_gap = CsvBuilder("a,b\n,2\n").Set("missing", "mean").Train(*empty.dataset).Open();
  ASSERT_EQ(no_gap.errors, "");
  EXPECT_EQ(ReadField<float>(*no_gap.dataset, 0, 0), (Floats{2, 2}));
}

TEST(CsvTest, MeansAreOfTrainingDataThatAreATable) {
  const Opened train =
      DatasetBuilder("synthetic").Set("samples", "3").Input("features", DType::kF32, {2}).Open();
  ASSERT_EQ(train.errors, "");
  EXPECT_EQ(CsvBuilder("a,b\n1,\n").Set("missing", "mean").Train(*train.dataset).Open().errors,
            "error: the means are those of the training data, which are not csv\n"
            "help: `missing: zero` or a number fills gaps without them\n");
}

// Samples that become `valid` have no part in the means, but their gaps are filled with them.
TEST(CsvTest, MeansLeaveOutWhatIsSplitAway) {
  constexpr int64_t kRows = 40;
  constexpr uint64_t kSeed = 5;
  const SplitIndices parts = SplitSamples(kRows, 0.25, kSeed);
  ASSERT_EQ(parts.valid.size(), 10u);
  const auto is_valid = [&](int64_t row) { return std::ranges::count(parts.valid, row) > 0; };
  std::string table = "a,b\n";
  double sum = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const bool gap = row == parts.valid[3] || row == parts.train[7];
    table += std::to_string(row) + (gap ? ",\n" : is_valid(row) ? ",1e6\n" : ",3\n");
    if (!is_valid(row)) sum += static_cast<double>(row);
  }
  const Opened opened = CsvBuilder(table).Set("missing", "mean").Split(0.25, kSeed).Open();
  ASSERT_EQ(opened.errors, "");
  for (int64_t row : {parts.valid[3], parts.train[7]}) {
    EXPECT_EQ(ReadField<float>(*opened.dataset, row, 0)[1], 3) << row;
  }
  const Opened test = CsvBuilder("a,b\n,\n").Set("missing", "mean").Train(*opened.dataset).Open();
  EXPECT_EQ(ReadField<float>(*test.dataset, 0, 0), (Floats{static_cast<float>(sum / 30), 3}));

  std::string nothing = "a,b\n";
  for (int64_t row = 0; row < kRows; ++row) nothing += is_valid(row) ? "1,2\n" : "1,\n";
  EXPECT_EQ(CsvBuilder(nothing).Set("missing", "mean").Split(0.25, kSeed).Open().errors,
            "error: 'DIR/t.csv': column 'b' has no value at all in the training samples, so it has "
            "no mean\n");
}

TEST(CsvTest, TheMemoryLimitHoldsBeforeMemoryIsTaken) {
  const std::string table = "a,b,y\n1,2,3\n4,5,6\n";
  EXPECT_EQ(CsvBuilder(table).Label("y", DType::kF32).Limit(24).Open().errors, "");
  EXPECT_EQ(
      CsvBuilder(table).Label("y", DType::kF32).Limit(23).Open().errors,
      "error: 'DIR/t.csv' has more than 1 row of 12 bytes, which fill the 23 bytes that are left\n"
      "help: raise the memory limit, or use fewer samples or columns\n");
  std::string rows = "a,b\n";
  for (int i = 0; i < 500000; ++i) rows += "0,0\n";
  const std::string bomb = Gzip(rows);
  EXPECT_LT(bomb.size(), 20000u);
  const int64_t before = CurrentHeapUse().heap_bytes;
  EXPECT_EQ(CsvBuilder(bomb).Limit(1000000).Open().errors,
            "error: 'DIR/t.csv' has more than 125000 rows of 8 bytes, which fill the 1000000 bytes "
            "that are left\n"
            "help: raise the memory limit, or use fewer samples or columns\n");
  EXPECT_LT(CurrentHeapUse().heap_bytes - before, 2000000);
  const std::string one_line = Gzip(std::string(100 << 20, '1'));
  EXPECT_EQ(CsvBuilder(one_line).Open().errors.substr(0, 48),
            "DIR/t.csv:1:1: error: a line of more than 16 MiB");
  const std::string quote = Gzip("\"" + std::string(100 << 20, '\n'));
  EXPECT_EQ(CsvBuilder(quote).Open().errors.substr(0, 48),
            "DIR/t.csv:1:1: error: this quote is never closed");
}

TEST(CsvTest, ReadingASampleDoesNotAllocate) {
  const Opened opened = CsvBuilder("a,b,y\n1,2,3\n").Label("y", DType::kF32).Open();
  std::byte features[8], label[4];
  const std::span<std::byte> out[] = {features, label};
  const int64_t before = CurrentHeapUse().allocations;
  opened.dataset->Read(0, out);
  const int64_t after = CurrentHeapUse().allocations;
  EXPECT_EQ(after, before);
}

// A field as RFC 4180 wants it, with quotes where they are needed or at random.
std::string Quoted(const std::string& text, bool quote) {
  if (!quote && text.find_first_of(",\"\r\n \t") == text.npos && !text.empty()) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string Shortest(float value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

TEST(CsvProperty, AnyTableComesBack) {
  EXPECT_TRUE(rc::check("numbers bit by bit, names byte by byte", [] {
    const auto columns = static_cast<size_t>(*rc::gen::inRange(1, 6));
    const auto rows = static_cast<size_t>(*rc::gen::inRange(1, 20));
    const auto cell = rc::gen::map(rc::gen::arbitrary<uint32_t>(), [](uint32_t bits) {
      const float value = std::bit_cast<float>(bits);
      return std::isfinite(value) ? value : 0.0f;
    });
    const auto letter = rc::gen::element<std::string>("a", "b", ",", "\"", "\n", "\r", " ", "'",
                                                      "é", ";", "x", "\t");
    const auto name = rc::gen::map(rc::gen::container<std::vector<std::string>>(letter),
                                   [](const std::vector<std::string>& letters) {
                                     std::string text = "c";
                                     for (const std::string& one : letters) text += one;
                                     return text;
                                   });
    const bool crlf = *rc::gen::arbitrary<bool>(), quote = *rc::gen::arbitrary<bool>();
    const std::string end = crlf ? "\r\n" : "\n";
    std::string text;
    std::vector<Floats> values;
    std::vector<std::string> names;
    for (size_t row = 0; row < rows; ++row) {
      values.push_back(*rc::gen::container<Floats>(columns, cell));
      names.push_back(*name);
      for (float value : values.back()) text += Quoted(Shortest(value), quote) + ",";
      text += Quoted(names.back(), quote) + end;
    }
    const Opened opened = CsvBuilder(text, static_cast<int64_t>(columns))
                              .Set("header", "false")
                              .Label("-1", DType::kI32)
                              .Open();
    RC_ASSERT(opened.errors == "");
    RC_ASSERT(opened.dataset->size() == static_cast<int64_t>(rows));
    const auto classes = opened.dataset->ClassNames(1);
    RC_ASSERT(std::is_sorted(classes.begin(), classes.end()));
    for (size_t row = 0; row < rows; ++row) {
      const auto index = static_cast<int64_t>(row);
      const Floats read = ReadField<float>(*opened.dataset, index, 0);
      RC_ASSERT(std::memcmp(read.data(), values[row].data(), columns * 4) == 0);
      const int32_t label = ReadField<int32_t>(*opened.dataset, index, 1)[0];
      RC_ASSERT(classes[static_cast<size_t>(label)] == names[row]);
    }
  }));
}

TEST(CsvNotes, TellWhatBecameOfGaps) {
  CsvBuilder builder("a,b,y\n1,,3\n4,5,\n7,8,9\n,,1\n");
  builder.Label("y", DType::kF32).Set("missing", "mean").Set("missing_label", "drop");
  const std::string file = "'" + builder.folder() + "/t.csv': ";
  const Opened filled = builder.Open();
  ASSERT_EQ(filled.errors, "");
  EXPECT_EQ(filled.dataset->Notes(),
            (std::vector<std::string>{file + "1 of its 4 rows is left out, with no label: line 3",
                                      file + "3 gaps are filled with the means of their columns"}));
  builder.File("t.csv", "a,b,y\n1,,3\n,5,1\n7,8,\n,,1\n?,1,1\nNA,2,2\n1,2,3\n");
  const Opened dropped = builder.Set("missing", "drop").Open();
  ASSERT_EQ(dropped.errors, "");
  EXPECT_EQ(dropped.dataset->Notes(),
            (std::vector<std::string>{file + "6 of its 7 rows are left out, with no value in a "
                                             "column that is used: lines 2, 3, 4, 5, 6, …"}));
  builder.File("t.csv", "a,b,y\n1,,3\n4,5,6\n");
  const Opened zero = builder.Set("missing", "zero").Open();
  ASSERT_EQ(zero.errors, "");
  EXPECT_EQ(zero.dataset->Notes(), (std::vector<std::string>{file + "1 gap is filled with 0"}));
  builder.File("t.csv", "a,b,y\n1,2,3\n4,5,6\n");
  EXPECT_TRUE(builder.Open().dataset->Notes().empty());
}

}  // namespace
}  // namespace cgrun
