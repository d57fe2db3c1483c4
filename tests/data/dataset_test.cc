// OpenDataset(): formats and options, and what a user reads who mistypes them.
#include "src/data/dataset.h"

#include <gtest/gtest.h>

#include <set>

namespace cgrun {
namespace {

// A line of a model file, and the data set that stands in it.
struct Line {
  std::shared_ptr<const SourceFile> file;
  DataOption format;
  DataOptions options;

  explicit Line(const std::string& text)
      : file(std::make_shared<SourceFile>(SourceFile{"model.yaml", text})) {
    options.mark = {file, 1, 1, static_cast<int>(text.size())};
  }

  SourceMark MarkOf(const std::string& value) const {
    const size_t at = file->text.find(value);
    return {file, 1, static_cast<int>(at) + 1, static_cast<int>(value.size())};
  }
  void Set(const std::string& name, const std::string& value) {
    options.values[name] = {value, MarkOf(value)};
  }
  std::string Errors() {
    Diagnostics diagnostics;
    EXPECT_EQ(OpenDataset(format, options, diagnostics), nullptr);
    return diagnostics.ToString();
  }
};

TEST(OpenDatasetTest, AnUnknownFormatIsSuggested) {
  Line line("{format: idxx}");
  line.format = {"idxx", line.MarkOf("idxx")};
  EXPECT_EQ(line.Errors(),
            "model.yaml:1:10: error: unknown data format 'idxx'\n"
            "    {format: idxx}\n"
            "             ^~~~\n"
            "help: did you mean 'idx'?\n");
  line.format.value = "pictures";
  EXPECT_NE(line.Errors().find("help: known: cifar, csv, idx, images, lines, npy, synthetic"),
            std::string::npos);
}

TEST(OpenDatasetTest, OptionsOfAnUnknownFormatAreChecked) {
  const auto errors = [](const std::string& format) {
    Line line("{format: " + format + ", fiel: t.csv, header: maybe, colour: red}");
    line.format = {format, line.MarkOf(format)};
    line.options.values["fiel"] = {"t.csv", line.MarkOf("fiel")};
    line.Set("header", "maybe");
    line.options.values["colour"] = {"red", line.MarkOf("colour")};
    std::string messages;
    const std::string text = line.Errors();
    for (size_t at = text.find("error: "); at != text.npos; at = text.find("error: ", at + 1)) {
      messages += text.substr(at, text.find('\n', at) + 1 - at);
    }
    return messages;
  };
  EXPECT_EQ(errors("cvs"),
            "error: unknown data format 'cvs'\n"
            "error: unknown option 'fiel' for data of format 'csv'\n"
            "error: option 'header' cannot be 'maybe'\n"
            "error: unknown option 'colour' for data of format 'csv'\n");
  EXPECT_EQ(errors("table"), errors("cvs").replace(errors("cvs").find("cvs"), 3, "table"));
  EXPECT_EQ(errors("parquet"),
            "error: unknown data format 'parquet'\n"
            "error: no data format has an option 'fiel'\n"
            "error: no data format has an option 'colour'\n");
  EXPECT_NE(errors("csv").find("error: option 'header' cannot be 'maybe'\n"), std::string::npos)
      << "beside names that are wrong";
}

TEST(OpenDatasetTest, ValuesAreCheckedWithoutOpening) {
  const auto check = [](const std::string& samples, bool reported) {
    Line line("{format: synthetic, samples: " + samples + "}");
    line.Set("samples", samples);
    line.options.values["samples"].reported = reported;
    Diagnostics diagnostics;
    const DataFormat* format = CheckDataset({"synthetic", {}}, line.options, diagnostics);
    EXPECT_EQ(format == nullptr, diagnostics.has_errors());
    return diagnostics.has_errors() ? diagnostics.Sorted()[0].message : "";
  };
  EXPECT_EQ(check("12", false), "");
  EXPECT_EQ(check("many", false),
            "option 'samples' is 'many', but must be an integer from 1 to "
            "1099511627776");
  EXPECT_NE(check("-4", false), "");
  EXPECT_NE(check("99999999999999999999", false), "");
  EXPECT_EQ(check("0.5", true), "") << "another error has told of it";
}

TEST(OpenDatasetTest, ValuesAreToldBesideWrongNames) {
  const auto errors = [](const std::string& format, const std::string& name,
                         const std::string& value) {
    Line line("{" + name + ": " + value + ", hue: 3}");
    line.format.value = format;
    line.Set(name, value);
    line.options.values["hue"] = {"3", line.MarkOf("hue")};
    const std::string text = line.Errors();
    EXPECT_NE(text.find("option 'hue'"), text.npos) << text;
    return text;
  };
  for (const auto& [format, name, value] : {std::tuple("synthetic", "samples", "-4"),
                                            {"synthetik", "samples", "99999999999999999999"},
                                            {"csv", "missing", "maybe"},
                                            {"csv", "delimiter", "ab"},
                                            {"cifar", "classes", "11"},
                                            {"lines", "length", "0"}}) {
    const std::string part = std::string("option '") + name + "' is '" + value + "', but must be";
    EXPECT_NE(errors(format, name, value).find(part), std::string::npos) << part;
  }
  EXPECT_EQ(errors("csv", "missing", "mean").find("'missing'"), std::string::npos);
}

TEST(OpenDatasetTest, ANumberWithACommaIsToldOnce) {
  Line line("{samples: 0,5}");
  line.Set("samples", "0.5");
  line.options.values["samples"].mended = true;
  Diagnostics diagnostics;
  diagnostics.Error(line.options.values["samples"].mark, "a comma ends a value");
  CheckDataset({"synthetic", {}}, line.options, diagnostics);
  ASSERT_EQ(diagnostics.Sorted().size(), 1);
  EXPECT_EQ(diagnostics.Sorted()[0].message,
            "option 'samples' is '0,5', but must be an integer from 1 to 1099511627776");
}

TEST(OpenDatasetTest, AnOptionThatSeveralFormatsCallOtherwise) {
  Line line("{format: parquet, source: x}");
  line.format.value = "parquet";
  line.options.values["source"] = {"x", line.MarkOf("source")};
  EXPECT_NE(line.Errors().find("help: write `folder` or `file`, as the format wants\n"),
            std::string::npos);
}

TEST(OpenDatasetTest, NamesOfOtherProgramsLeadToOptions) {
  std::set<std::string_view> known;
  for (const DataFormat* format : DataFormats()) {
    for (const DataOptionSpec& option : format->options) known.insert(option.name);
  }
  EXPECT_FALSE(DataOptionSynonyms().empty());
  for (const Synonym& synonym : DataOptionSynonyms()) {
    EXPECT_TRUE(known.contains(synonym.ours)) << synonym.theirs << " → " << synonym.ours;
    EXPECT_EQ(PlainName(synonym.theirs), synonym.theirs);
  }
  Line line("{format: images, root: photos}");
  line.format.value = "images";
  line.options.values["root"] = {"photos", line.MarkOf("photos")};
  EXPECT_NE(line.Errors().find("help: write 'folder'"), std::string::npos);
}

TEST(OpenDatasetTest, AllErrorsOfOptionsComeTogether) {
  Line line("{format: synthetic, sampels: 5, sead: 7}");
  line.format.value = "synthetic";
  line.options.values["sampels"] = {"5", line.MarkOf("sampels")};
  line.options.values["sead"] = {"7", line.MarkOf("sead")};
  EXPECT_EQ(line.Errors(),
            "model.yaml:1:1: error: data of format 'synthetic' need the option 'samples'\n"
            "    {format: synthetic, sampels: 5, sead: 7}\n"
            "    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
            "help: samples: how many samples there are\n"
            "model.yaml:1:21: error: unknown option 'sampels' for data of format 'synthetic'\n"
            "    {format: synthetic, sampels: 5, sead: 7}\n"
            "                        ^~~~~~~\n"
            "help: did you mean 'samples'?\n"
            "model.yaml:1:33: error: unknown option 'sead' for data of format 'synthetic'\n"
            "    {format: synthetic, sampels: 5, sead: 7}\n"
            "                                    ^~~~\n"
            "help: did you mean 'seed'?\n");
}

TEST(OpenDatasetTest, AMissingFileStandsAtItsOption) {
  Line line("{format: idx, images: none.gz}");
  line.format.value = "idx";
  line.options.folder = "/no/folder";
  line.Set("images", "none.gz");
  EXPECT_EQ(line.Errors(),
            "model.yaml:1:23: error: cannot open '/no/folder/none.gz': No such file or directory\n"
            "    {format: idx, images: none.gz}\n"
            "                          ^~~~~~~\n"
            "help: there is no folder '/no'\n");
}

TEST(OpenDatasetTest, IntegersAreCheckedAndInRange) {
  for (const char* value : {"0", "-1", "1.5", "1e3", "", "abc", "99999999999999999999", "5 "}) {
    Line line(std::string("{samples: ") + value + "}");
    line.format.value = "synthetic";
    line.options.fields = {{"x", DType::kF32, {1}}};
    line.Set("samples", value);
    const std::string errors = line.Errors();
    EXPECT_NE(errors.find("option 'samples' is '" + std::string(value) +
                          "', but must be an integer from 1 to 1099511627776\n"),
              std::string::npos)
        << errors;
  }
}

TEST(DataFormatsTest, AreSortedAndDocumented) {
  std::set<std::string_view> names;
  std::string_view before;
  for (const DataFormat* format : DataFormats()) {
    EXPECT_LT(before, format->name);
    before = format->name;
    EXPECT_FALSE(format->doc.empty());
    for (const DataOptionSpec& option : format->options) EXPECT_FALSE(option.doc.empty());
  }
  EXPECT_EQ(DataFormats().size(), 8u);
}

}  // namespace
}  // namespace cgrun
