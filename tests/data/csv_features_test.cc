// Features of tables by what their training data have: categories, standardized columns.
#include <gtest/gtest.h>

#include <cmath>

#include "src/data/sampler.h"
#include "tests/data/csv_testing.h"

namespace cgrun {
namespace {

using Floats = std::vector<float>;
using Ids = std::vector<int32_t>;
using Names = std::vector<std::string>;

constexpr char kTowns[] = "area,town,y\n1,Rom,0\n3,Bonn,1\n5,Rom,0\n";

// Builds a table with one column of numbers and one of towns.
class TownBuilder : public CsvBuilder {
 public:
  explicit TownBuilder(std::string_view text) : CsvBuilder(text, 1) {
    Input("town", DType::kI32, {});
    Label("y", DType::kI32);
  }
  TownBuilder& Towns() {
    Set("categories", "[town]");
    return *this;
  }
};

Ids TownsOf(const Opened& opened) {
  EXPECT_EQ(opened.errors, "");
  Ids towns;
  for (int64_t i = 0; opened.dataset && i < opened.dataset->size(); ++i) {
    towns.push_back(ReadField<int32_t>(*opened.dataset, i, 1)[0]);
  }
  return towns;
}

TEST(CsvCategories, AreIdsFromOne) {
  const Opened opened = TownBuilder(kTowns).Towns().Open();
  EXPECT_EQ(TownsOf(opened), (Ids{2, 1, 2}));
  ASSERT_EQ(opened.dataset->fields().size(), 3u);
  EXPECT_EQ(opened.dataset->fields()[1], (DataField{"town", DType::kI32, {}}));
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), Floats{3});
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 1, 2), Ids{1});
  EXPECT_EQ(opened.dataset->Findings().names.at("categories.town"), (Names{"Bonn", "Rom"}));
}

TEST(CsvCategories, OtherSetsHaveThoseOfTheTrainingData) {
  const Opened train = TownBuilder(kTowns).Towns().Open();
  const Opened test = TownBuilder("town,y,area\nRom,1,1\nParis,0,2\n").Train(*train.dataset).Open();
  EXPECT_EQ(TownsOf(test), (Ids{2, 0})) << "columns are found by their names";
  EXPECT_EQ(ReadField<float>(*test.dataset, 1, 0), Floats{2});
}

TEST(CsvCategories, NoOtherColumnIsTakenForOneThatIsMissing) {
  const Opened train = TownBuilder(kTowns).Towns().Open();
  EXPECT_EQ(TownBuilder("town,y,width\nRom,1,1\n").Train(*train.dataset).Open().errors,
            "error: 'DIR/t.csv' has no column 'area', which the training data have\n"
            "help: give the column of these values that name: features are found by their names\n");
  EXPECT_EQ(TownBuilder("town,y,AREA\nRom,1,1\n").Train(*train.dataset).Open().errors,
            "error: 'DIR/t.csv' has no column 'area', which the training data have\n"
            "help: its column 'AREA' has nearly that name: give it the same\n");
  const auto help = [&](std::string_view table) {
    const std::string errors = CsvBuilder(table).Train(*train.dataset).Open().errors;
    const size_t error = errors.rfind("has no column");
    const size_t found = error == errors.npos ? error : errors.find("help: ", error);
    return found == errors.npos ? errors : errors.substr(found, errors.find('\n', found) - found);
  };
  EXPECT_EQ(help("area;town\n1;Rome\n"),
            "help: there is one column only; if another character separates them: `delimiter: "
            "\";\"`");
  EXPECT_EQ(
      help("1.5,2.5\n3,4\n"),
      "help: the first line looks like values, not names: `header: false` says that there are "
      "no names, and columns are counted then: from 1, -1 is the last");
}

// If `columns` is a list, its names count, and not their order.
TEST(CsvColumns, AreTakenInTheOrderOfTheTrainingData) {
  const Opened train =
      CsvBuilder("b,a,y\n1,2,0\n").Set("columns", "[a, b]").Label("y", DType::kF32).Open();
  ASSERT_EQ(train.errors, "");
  const DataFindings kept = train.dataset->Findings();
  const auto other = [&](const std::string& columns, bool of_weights) {
    CsvBuilder test("y,a,c,b\n0,3,9,4\n");
    test.Set("columns", columns).Label("y", DType::kF32);
    return of_weights ? test.Kept(kept).Open() : test.Train(*train.dataset).Open();
  };
  for (const bool of_weights : {false, true}) {
    for (const char* columns : {"[b, a]", "[a, b]", "[4, 2]", "[-1, a]"}) {
      const Opened opened = other(columns, of_weights);
      ASSERT_EQ(opened.errors, "") << columns;
      EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{3, 4})) << columns;
    }
  }
  EXPECT_EQ(other("[c, b]", false).errors,
            "error: `columns` lists other columns than the training data have: it lacks 'a', and "
            "adds 'c'\nhelp: leave `columns` out: the columns of the training data are found, in "
            "whatever order they stand\n");
  EXPECT_EQ(other("[b, a, c]", true).errors,
            "error: `columns` lists other columns than the weights were trained with: it adds 'c'\n"
            "help: leave `columns` out: the columns of the training data are found, in whatever "
            "order they stand; other columns want a new training\n");
}

TEST(CsvColumns, AreComparedByTheirNumbersWithoutNames) {
  const Opened train = CsvBuilder("0,1,2\n")
                           .Set("header", "false")
                           .Set("columns", "[2, 3]")
                           .Label("1", DType::kF32)
                           .Open();
  ASSERT_EQ(train.errors, "");
  const auto other = [&](std::string_view table, const std::string& columns) {
    return CsvBuilder(table)
        .Set("header", "false")
        .Set("columns", columns)
        .Train(*train.dataset)
        .Open();
  };
  const Opened swapped = other("5,6,7\n", "[3, 2]");
  ASSERT_EQ(swapped.errors, "");
  EXPECT_EQ(ReadField<float>(*swapped.dataset, 0, 0), (Floats{6, 7}));
  EXPECT_NE(other("5,6,7\n", "[1, 3]").errors.find("it lacks '2', and adds '1'"),
            std::string::npos);
  const Opened without_label = other("6,7\n", "[1, 2]");
  ASSERT_EQ(without_label.errors, "") << "a table of another layout";
  EXPECT_EQ(ReadField<float>(*without_label.dataset, 0, 0), (Floats{6, 7}));
  const auto labelled = [&](const std::string& columns, const std::string& label) {
    CsvBuilder data("5,6,7\n");
    data.Set("header", "false").Set("columns", columns).Label(label, DType::kF32);
    return data.Train(*train.dataset).Open();
  };
  const Opened moved = labelled("[1, 2]", "3");
  ASSERT_EQ(moved.errors, "") << "the label stands elsewhere";
  EXPECT_EQ(ReadField<float>(*moved.dataset, 0, 0), (Floats{5, 6}));
  EXPECT_EQ(ReadField<float>(*labelled("[3, 2]", "1").dataset, 0, 0), (Floats{6, 7}));
}

TEST(CsvCategories, AreTakenInTheOrderOfTheTrainingData) {
  const auto open = [](std::string_view table, const std::string& categories,
                       const Dataset* train) {
    DatasetBuilder data("csv");
    data.File("t.csv", table).Set("file", "t.csv").Set("categories", categories);
    data.Input("one", DType::kI32, {}).Input("two", DType::kI32, {});
    return train == nullptr ? data.Open() : data.Train(*train).Open();
  };
  const Opened train = open("a,b\nx,u\ny,v\n", "[a, b]", nullptr);
  ASSERT_EQ(train.errors, "");
  const Opened test = open("a,b\ny,u\n", "[b, a]", train.dataset.get());
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*test.dataset, 0, 0), Ids{2});
  EXPECT_EQ(ReadField<int32_t>(*test.dataset, 0, 1), Ids{1});
  EXPECT_NE(open("a,b\ny,u\n", "[b]", train.dataset.get())
                .errors.find(
                    "`categories` lists other columns than the training data have: it lacks 'a'"),
            std::string::npos);
}

TEST(CsvCategories, OfWhatIsSplitAwayAreUnknown) {
  std::string table = "area,town,y\n";
  for (int i = 0; i < 10; ++i) table += "1,t" + std::to_string(i) + ",0\n";
  TownBuilder data(table);
  const Ids towns = TownsOf(data.Towns().Split(0.3, 5).Open());
  ASSERT_EQ(towns.size(), 10u);
  const SplitIndices split = SplitSamples(10, 0.3, 5);
  for (const int64_t i : split.valid) EXPECT_EQ(towns[static_cast<size_t>(i)], 0) << i;
  for (const int64_t i : split.train) EXPECT_GT(towns[static_cast<size_t>(i)], 0) << i;
}

TEST(CsvCategories, MayBeListed) {
  TownBuilder data(kTowns);
  data.Towns().Set("town", "[Rom, Paris]");
  EXPECT_EQ(TownsOf(data.Open()), (Ids{1, 0, 1}));
  TownBuilder twice(kTowns);
  EXPECT_EQ(twice.Towns().Set("town", "[Rom, Rom]").Open().errors,
            "error: category 'Rom' stands twice in the list\n");
  EXPECT_EQ(TownBuilder("area,y\n1,2\n").Set("town", "[Rom]").Open().errors,
            "error: 'town' lists categories, but no column has any\n"
            "help: `categories: [town]` says that its texts are categories\n");
}

TEST(CsvCategories, ThoseOfTheWeightsComeFirst) {
  const DataFindings kept = TownBuilder(kTowns).Towns().Open().dataset->Findings();
  TownBuilder other("area,town,y\n1,Athens,0\n3,Rom,1\n");
  EXPECT_EQ(TownsOf(other.Kept(kept).Open()), (Ids{0, 2}));
  EXPECT_EQ(other.Towns().Set("town", "[Athens, Rom]").Open().errors,
            "error: the categories of 'town' are others in the weights\n"
            "help: leave the list out: they are known\n");
}

TEST(CsvCategories, AGapIsAnUnknownOneWhereGapsAreFilled) {
  const std::string gaps = "area,town,y\n1,Rom,0\n2,,0\n3,\"NA\",0\n";
  TownBuilder zero(gaps);
  zero.Towns().Set("missing", "zero");
  EXPECT_EQ(TownsOf(zero.Open()), (Ids{2, 0, 1})) << "NA in quotes is a name";
  TownBuilder refused(gaps);
  EXPECT_NE(refused.Towns().Open().errors.find("t.csv:3:3: error: column 'town' has no value here"),
            std::string::npos);
  TownBuilder dropped(gaps);
  dropped.Towns().Set("missing", "drop");
  EXPECT_EQ(TownsOf(dropped.Open()), (Ids{2, 1}));
}

TEST(CsvCategories, NeedNoNumbersBeside) {
  const Opened opened = DatasetBuilder("csv")
                            .File("t.csv", "town,size\nRom,big\nBonn,small\n")
                            .Set("file", "t.csv")
                            .Set("categories", "[size, town]")
                            .Input("size", DType::kI64, {1})
                            .Input("town", DType::kI32, {})
                            .Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<int64_t>(*opened.dataset, 1, 0), (std::vector<int64_t>{2}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 1, 1), Ids{1});
}

// A set of categories alone: nothing else is a feature in other sets either.
TEST(CsvCategories, AloneAreFoundInOtherSets) {
  const auto builder = [](std::string_view text) {
    auto towns = std::make_unique<DatasetBuilder>("csv");
    towns->File("t.csv", text).Set("file", "t.csv").Input("town", DType::kI32, {});
    towns->Label("y", DType::kI32);
    return towns;
  };
  const Opened train = builder("town,y\nRom,1\nBonn,0\n")->Set("categories", "[town]").Open();
  ASSERT_EQ(train.errors, "");
  const Opened test = builder("more,y,town\n7,1,Rom\n")->Train(*train.dataset).Open();
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*test.dataset, 0, 0), Ids{2});
}

// The input's name is an option of tables, which lists nothing.
TEST(CsvCategories, MayFeedAnInputThatIsCalledAsAnOption) {
  const Opened opened = DatasetBuilder("csv")
                            .File("t.csv", "town,y\nRom,1\nBonn,0\n")
                            .Set("file", "t.csv")
                            .Set("categories", "[town]")
                            .Input("file", DType::kI32, {})
                            .Label("y", DType::kI32)
                            .Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 0), Ids{2});
}

TEST(CsvCategories, TheirErrors) {
  EXPECT_EQ(TownBuilder(kTowns).Set("categories", "[y]").Open().errors,
            "error: column 'y' is the label too\n"
            "help: leave it out of `categories`: a label is to be predicted from other columns\n");
  EXPECT_EQ(TownBuilder(kTowns).Set("categories", "[twon]").Open().errors,
            "error: 'DIR/t.csv' has no column 'twon'\nhelp: did you mean 'town'?\n");
  const Opened numbers =
      DatasetBuilder("synthetic").Set("samples", "1").Input("x", DType::kF32, {1}).Open();
  EXPECT_EQ(TownBuilder(kTowns).Towns().Train(*numbers.dataset).Open().errors,
            "error: the categories are those of the training data, which are not csv\n"
            "help: an option that is called as the input lists them\n");
}

TEST(CsvStandardize, ColumnsHaveTheMeanZeroAndTheDeviationOne) {
  const Opened opened = CsvBuilder("a,b,c\n2,10,7\n4,,7\n6,20,7\n", 3)
                            .Set("standardize", "true")
                            .Set("missing", "mean")
                            .Open();
  ASSERT_EQ(opened.errors, "");
  const float far = std::sqrt(1.5F);
  EXPECT_EQ(ReadField<float>(*opened.dataset, 0, 0), (Floats{-far, -1, 0}));
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (Floats{0, 0, 0})) << "of a gap, too";
  EXPECT_EQ(ReadField<float>(*opened.dataset, 2, 0), (Floats{far, 1, 0}));
}

TEST(CsvStandardize, OtherSetsAreReadByTheTrainingData) {
  const Opened train = CsvBuilder("a,b\n-1,0\n1,4\n").Set("standardize", "true").Open();
  const std::string table = "a,b\n3,2\n";
  const Opened test = CsvBuilder(table).Train(*train.dataset).Open();
  ASSERT_EQ(test.errors, "");
  EXPECT_EQ(ReadField<float>(*test.dataset, 0, 0), (Floats{3, 0}));
  const DataFindings kept = train.dataset->Findings();
  const Opened again = CsvBuilder("b,a\n2,3\n").Set("standardize", "true").Kept(kept).Open();
  ASSERT_EQ(again.errors, "");
  EXPECT_EQ(ReadField<float>(*again.dataset, 0, 0), (Floats{3, 0})) << "by the names of columns";
  EXPECT_EQ(CsvBuilder(table).Set("standardize", "false").Train(*train.dataset).Open().errors,
            "error: the training data are standardized, and other data are read as they were\n"
            "help: leave `standardize` out\n");
  const Opened plain = CsvBuilder(table).Open();
  EXPECT_EQ(CsvBuilder(table).Set("standardize", "true").Train(*plain.dataset).Open().errors,
            "error: the training data are not standardized, and other data are read as they were\n"
            "help: leave `standardize` out\n");
}

TEST(CsvStandardize, LeavesOutWhatIsSplitAway) {
  std::string table = "a,b\n";
  for (int i = 0; i < 10; ++i) table += std::to_string(i * i) + ",1\n";
  const Opened opened = CsvBuilder(table).Set("standardize", "true").Split(0.3, 5).Open();
  ASSERT_EQ(opened.errors, "");
  double sum = 0, all = 0;
  for (int64_t i = 0; i < 10; ++i)
    all += static_cast<double>(ReadField<float>(*opened.dataset, i, 0)[0]);
  for (const int64_t i : SplitSamples(10, 0.3, 5).train) {
    sum += static_cast<double>(ReadField<float>(*opened.dataset, i, 0)[0]);
  }
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_GT(std::abs(all), 0.1);
}

TEST(CsvStandardize, IsForNumbersThatAreFractions) {
  EXPECT_EQ(DatasetBuilder("csv")
                .File("t.csv", "a\n1\n")
                .Set("file", "t.csv")
                .Set("standardize", "true")
                .Input("x", DType::kI32, {1})
                .Open()
                .errors,
            "error: a standardized number is no integer, and input 'x' is int32\n"
            "help: an input of f32 takes it\n");
}

TEST(CsvClasses, AreThoseOfTheWeights) {
  const DataFindings kept = {{{"classes.label", {"cat", "dog"}}}, {}};
  const Opened opened = CsvBuilder("a,b,y\n1,2,dog\n").Label("y", DType::kI32).Kept(kept).Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 0, 1), Ids{1});
  CsvBuilder other("a,b,y\n1,2,ant\n");
  EXPECT_NE(other.Label("y", DType::kI32)
                .Kept(kept)
                .Open()
                .errors.find("'ant' is none of the classes of the weights"),
            std::string::npos);
  EXPECT_EQ(other.Set("classes", "[dog, cat]").Open().errors,
            "error: the weights were trained with these classes in another order\n"
            "help: leave `classes` out: the weights keep them\n");
}

}  // namespace
}  // namespace cgrun
