// `data:`: which files hold the samples. Formats and their options are the loader's.
#include "src/model/fields.h"
#include "src/model/key_synonyms.h"
#include "src/model/read_sections.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

void ReadSplit(const TreeEntry& entry, DataSpec& data, const Reader& reader) {
  const auto part = ReadReal(entry.value, entry.key, reader.diagnostics);
  if (!part) return;
  if (*part > 0 && *part < 1) {
    data.split = Marked<double>{*part, entry.value.mark};
    return;
  }
  reader.diagnostics.Error(entry.value.mark,
                           "'split' must be above 0 and below 1, not " + Describe(entry.value),
                           "0.1 keeps a tenth of the training data");
}

void TakeOption(const TreeEntry& entry, DataSpec& data, const Reader&) {
  data.options.push_back(entry);
}

constexpr Key<DataSpec> kDataSetKeys[] = {
    {{"format", kTextType, "", "the format of the files; the other keys are its options", "source"},
     ReadTextField<&DataSpec::format>},
    {{"split", kFractionType, "", "of valid and test: this part of the training data", "source"},
     ReadSplit},
};

// The samples of a split are read as the training data are.
void RefuseOptionsOfSplit(const DataSpec& data, const Reader& reader) {
  for (const Attribute& option : data.options) {
    reader.diagnostics.Error(option.key_mark, "a 'split' has no option '" + option.key + "'",
                             "its samples are read as those of 'train'");
  }
}

// `valid: 0.1`, `train: images`: the map that was meant.
bool CheckDataSet(const TreeEntry& entry, const Reader& reader) {
  if (entry.value.IsMap()) return true;
  const bool part =
      entry.key != "train" && entry.value.IsScalar() && ParseReal(entry.value.scalar).has_value();
  reader.diagnostics.Error(entry.value.mark,
                           "'" + entry.key + "' must be a map, not " + Describe(entry.value),
                           part ? "write `" + entry.key + ": {split: " + entry.value.scalar + "}`"
                                : "for example `" + entry.key +
                                      ": {format: images, folder: FOLDER}`, or `{format: csv, "
                                      "file: FILE, label: COLUMN}`");
  return false;
}

void ReportNoFormat(const TreeEntry& set, const Reader& reader) {
  const std::string format = "format";
  const TreeEntry* meant = nullptr;
  for (const TreeEntry& option : set.value.entries) {
    if (!MeantKey(option.key, {&format, 1}).empty()) meant = &option;
  }
  const bool can_be_named = meant != nullptr && meant->value.IsScalar();
  reader.diagnostics.Error(
      meant != nullptr ? meant->key_mark : set.key_mark,
      "'" + set.key + "' needs 'format'" + (set.key == "train" ? "" : " or 'split'"),
      can_be_named ? "write `format: " + meant->value.scalar + "`"
                   : "such as `format: images`, `format: csv` or `format: idx`");
}

template <std::optional<DataSpec> DataSection::*kMember>
void ReadDataSet(const TreeEntry& entry, DataSection& section, const Reader& reader) {
  DataSpec data;
  data.mark = entry.key_mark;
  if (!CheckDataSet(entry, reader)) return;
  ReadMap<DataSpec>(entry.value, entry.key, entry.key_mark, kDataSetKeys, data, reader, TakeOption);
  const TreeEntry* split = entry.value.Find("split");
  if (split != nullptr && entry.key == "train") {
    reader.diagnostics.Error(split->key_mark, "the training data cannot be split off itself",
                             "give 'valid' or 'test' the split");
  }
  const TreeEntry* format = entry.value.Find("format");
  const bool has_format = format != nullptr && !format->value.IsNull();
  if (split == nullptr && !has_format) ReportNoFormat(entry, reader);
  if (split != nullptr && !data.format) RefuseOptionsOfSplit(data, reader);
  section.*kMember = std::move(data);
}

constexpr Key<DataSection> kDataKeys[] = {
    {{"train", kMapType, "", "what is trained on"}, ReadDataSet<&DataSection::train>},
    {{"valid", kMapType, "", "what early stop and the best model look at"},
     ReadDataSet<&DataSection::valid>},
    {{"test", kMapType, "", "what is measured at the end, and by `cgrun eval`"},
     ReadDataSet<&DataSection::test>},
    {{"group_by", kTextType, "",
      "a column of `csv` data: the rows with one of its values train a model of their own"},
     ReadTextField<&DataSection::group_by>},
};

}  // namespace

namespace {

// Only rows of tables name their group.
void CheckGroupBy(const DataSection& data, const Reader& reader) {
  if (!data.group_by) return;
  for (const auto* set : {&data.train, &data.valid, &data.test}) {
    if (!*set || !(*set)->format || (*set)->format->value == "csv") continue;
    reader.diagnostics.Error(
        data.group_by->mark,
        "'group_by' needs data of format 'csv', and these are '" + (*set)->format->value + "'",
        "a column of a table names the group of each row: `format: csv`");
    return;
  }
}

}  // namespace

void ReadData(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  DataSection section;
  section.mark = entry.key_mark;
  ReadMap<DataSection>(entry.value, entry.key, entry.key_mark, kDataKeys, section, reader);
  CheckGroupBy(section, reader);
  model.data = std::move(section);
}

std::vector<MapDoc> DataDocs() {
  return {{"data", "The samples.", Docs<DataSection>(kDataKeys)},
          {"data.*", "One data set. Further keys are options of its format.",
           Docs<DataSpec>(kDataSetKeys), true}};
}

}  // namespace cgrun
