// The options of the model's data, but that labels are left out: columns by number.
#include "src/predict/predict_table.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/word_list.h"
#include "src/data/csv_layout.h"
#include "src/data/csv_options.h"
#include "src/data/csv_order.h"
#include "src/data/csv_reader.h"
#include "src/data/image_resample.h"
#include "src/data/lines_dataset.h"
#include "src/data/options.h"
#include "src/data/text_number.h"
#include "src/data/token_text.h"
#include "src/device/device.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"
#include "src/model_data/model_data.h"
#include "src/model_data/sample_shape.h"

namespace cgrun {
namespace {

constexpr std::string_view kTables[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
constexpr std::string_view kTabTables[] = {".tsv", ".tsv.gz"};
constexpr std::string_view kTexts[] = {".txt", ".txt.gz"};

bool IsTrue(const DataOptions& options, std::string_view name) {
  Diagnostics diagnostics;
  return BooleanOption(options, name, false, diagnostics).value_or(false);
}

// The names in the first line; numbers where it has none.
std::vector<std::string> ColumnNames(const std::string& path, const CsvOptions& csv,
                                     const TablePart* part, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  CsvReader reader =
      part != nullptr ? CsvReader(*part, diagnostics) : CsvReader(path, csv.delimiter, diagnostics);
  if (!reader.Next()) return names;
  for (const CsvField& field : reader.fields()) {
    names.push_back(csv.header ? std::string(field.quoted ? field.text : Trimmed(field.text))
                               : std::to_string(names.size() + 1));
  }
  return names;
}

// The columns of the labels that are there. One that is called by its number is there where the
// table has more columns than the features need.
std::set<size_t> LabelColumns(const DataOption& label, const std::vector<std::string>& names,
                              int64_t features) {
  const auto count = static_cast<int64_t>(names.size());
  std::set<size_t> columns;
  for (const DataOption& item : ItemsOf(label)) {
    const auto named = std::ranges::find(names, item.value);
    const std::optional<int32_t> number = ParseInt32(item.value);
    if (named != names.end() && !(number && count == features)) {
      columns.insert(static_cast<size_t>(named - names.begin()));
    } else if (number && *number != 0 && count > features && std::abs(int64_t{*number}) <= count) {
      columns.insert(static_cast<size_t>(*number > 0 ? *number - 1 : count + *number));
    }
  }
  return columns;
}

// Returns whether no two columns of the table are called alike by a name that is known.
bool AreUnique(const std::vector<std::string>& known, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& name : names) ++counts[name];
  return std::ranges::all_of(known, [&](const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() || found->second == 1;
  });
}

// A list of all columns but these.
DataOption AllBut(const std::set<size_t>& left_out, const std::vector<std::string>& names) {
  DataOption columns;
  const std::unordered_set<std::string_view> all(names.begin(), names.end());
  for (size_t i = 0; i < names.size(); ++i) {
    if (left_out.contains(i)) continue;
    const std::string number = std::to_string(i + 1);
    columns.items.push_back({all.contains(number) ? names[i] : number, {}});
  }
  return columns;
}

// Adds the column of `group_by`, which is no feature.
std::set<size_t> WithGroup(std::set<size_t> columns, const DataOptions& options,
                           const std::vector<std::string>& names) {
  if (!options.group_by) return columns;
  const std::set<size_t> group = LabelColumns(*options.group_by, names, std::ssize(names) - 1);
  columns.insert(group.begin(), group.end());
  return columns;
}

// Returns whether the first line of a text that is not empty has a tab, as one with a label has.
bool BeginsWithTab(const std::string& path) {
  const TokenText text(path, {FreeHostMemory()});
  bool tab = false;
  ForEachLine(text.text(), [&](const TextLine& line) {
    tab = line.text.find('\t') != line.text.npos;
    return line.text.find_first_not_of(kBlanks) == line.text.npos;
  });
  return tab;
}

// Returns for each input the field that feeds it; there are as many of both.
std::vector<size_t> FieldsFor(const std::vector<DataField>& inputs,
                              const std::vector<DataField>& fields) {
  std::vector<size_t> by_name, in_order;
  for (const DataField& input : inputs) {
    const auto named = std::ranges::find(fields, input.name, &DataField::name);
    if (named != fields.end()) by_name.push_back(static_cast<size_t>(named - fields.begin()));
    in_order.push_back(in_order.size());
  }
  return by_name.size() == inputs.size() ? by_name : in_order;
}

// "'features' and 'town'"
std::string NamesText(const std::vector<DataField>& fields) {
  std::vector<std::string> names;
  for (const DataField& field : fields) names.push_back("'" + field.name + "'");
  return ListWords(names, "and");
}

// A table of more fields or fewer than the inputs that it is to feed.
[[noreturn]] void ThrowOtherFields(const std::string& path, const std::vector<DataField>& fields,
                                   const std::vector<DataField>& inputs) {
  if (fields.size() > inputs.size()) {
    ThrowFileError(path,
                   "has " + NamesText(fields) + ", but is to feed " + NamesText(inputs) + " alone",
                   "a table without `NAME=` before it feeds all that the predictions read");
  }
  std::vector<DataField> missing;
  for (const DataField& input : inputs) {
    if (std::ranges::find(fields, input.name, &DataField::name) == fields.end()) {
      missing.push_back(input);
    }
  }
  if (missing.empty() || missing.size() == inputs.size()) missing = {inputs.back()};
  ThrowFileError(
      path, "has " + NamesText(fields) + ", but the predictions read " + NamesText(inputs),
      "labels are not read to predict: let `out:` of a path name a value that does not depend on " +
          NamesText(missing) + " (without it, the last path's last output is what is predicted)");
}

// Checks that the field for `input` has its type and size.
void CheckField(const std::string& path, const DataField& field, const DataField& input,
                bool of_text) {
  const bool same_size = field.shape.Elements() == input.shape.Elements();
  const bool same_type = field.dtype == input.dtype;
  if (!same_size && same_type && field.name == "features") {
    ThrowFileError(path,
                   "has " + CountText(field.shape.Elements(), "column") +
                       " of features, but input '" + input.name + "' is " + TypeText(input),
                   "the options `label` and `columns` of the model's data say which columns are "
                   "features");
  }
  if (same_size && same_type) return;
  ThrowFileError(
      path,
      ": its '" + field.name + "' is " + TypeText(field) + ", but input '" + input.name + "' is " +
          TypeText(input),
      of_text ? "the option `length` of the model's data is the length of the input" : "");
}

}  // namespace

void ThrowFirst(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity != Severity::kError) continue;
    const std::string place = item.mark.ToString();
    const int others = diagnostics.error_count() - 1;
    throw TableError((place.empty() ? "" : place + ": ") + item.message +
                         (others > 0 ? " (and " + std::to_string(others) + " more)" : ""),
                     item.help, diagnostics);
  }
  throw InputError("the table cannot be read", "");
}

TableReader::TableReader(const ModelSpec& model, DataFindings kept)
    : model_(model), kept_(std::move(kept)) {
  if (!model.data) return;
  const DataSection& data = *model.data;
  for (const auto& [place, spec] : {std::pair("data.train", &data.train),
                                    {"data.test", &data.test},
                                    {"data.valid", &data.valid}}) {
    if (spec_ != nullptr || !*spec || !(*spec)->format) continue;
    const std::string& format = (*spec)->format->value;
    if (format != "csv" && format != "lines" && format != "text") continue;
    spec_ = &**spec;
    place_ = place;
    format_ = format;
  }
}

bool TableReader::Reads(const std::string& path) const {
  return HasEnding(path, kTables) || (of_text() && HasEnding(path, kTexts));
}

std::string TableReader::TakenText(const std::vector<DataField>& inputs) const {
  if (of_text()) return "texts (.txt)";
  if (of_model()) return "tables (.csv, .tsv) with the columns of its training data";
  if (inputs.size() != 1) return "arrays (.npy), one for each of its inputs";
  const bool image = inputs[0].dtype == DType::kU8 && ImageTargetOf(inputs[0].shape);
  const std::string arrays = "arrays (.npy) of " + TypeText(inputs[0]);
  if (image) return "images (.jpg, .png), or " + arrays;
  return arrays + ", or tables (.csv) of " + CountText(inputs[0].shape.Elements(), "column");
}

// Takes the options of the model's data that say how a file is read.
bool TableReader::TakeOptions(DataOptions& options) const {
  Diagnostics diagnostics;
  for (const Attribute& option : spec_->options) {
    if (option.value.IsNull() || option.key == "file" || option.key == "classes") continue;
    options.values[option.key] = ToDataOption(option, diagnostics);
  }
  return !diagnostics.has_errors();
}

// The training set, whose means fill gaps; null where it is not there.
std::shared_ptr<const Dataset> TableReader::Training() const {
  Diagnostics diagnostics;
  return OpenTrainWhole(model_, diagnostics);
}

// Returns whether what weights keep is of such data, and not of another format, as images: then
// files are read by what the training data have.
bool TableReader::IsOfFormat(const DataFindings& kept) const {
  return !kept.empty() && (format_ != "csv" || kept.names.contains(kCsvColumns));
}

// Returns whether a file is read by what training data have, and the weights do not keep it.
bool TableReader::NeedsTraining(const DataOptions& options) const {
  if (spec_ == nullptr || format_ == "text") return false;
  if (format_ == "lines") {
    const auto tokens = options.values.find("tokens");
    const bool of_words = tokens == options.values.end() || tokens->second.value == "words";
    return of_words && !kept_.names.contains(kVocabularyKey) &&
           !options.values.contains("vocabulary");
  }
  if (kept_.names.contains(kCsvColumns)) return false;
  const auto missing = options.values.find("missing");
  return (missing != options.values.end() && missing->second.value == "mean") ||
         IsTrue(options, "standardize") || options.values.contains("categories");
}

// Leaves out the columns of labels that are there.
void TableReader::PrepareTable(const std::string& path, DataOptions& options) const {
  Diagnostics diagnostics;
  if (spec_ == nullptr && HasEnding(path, kTabTables)) options.values["delimiter"] = {"tab", {}};
  const std::optional<CsvOptions> csv = ReadCsvOptions(options, diagnostics);
  if (!csv) ThrowFirst(diagnostics);
  if (csv->missing == CsvMissing::kDrop) options.values.erase("missing");  // each row has an answer
  const auto label = options.values.find("label");
  if (spec_ != nullptr && label == options.values.end()) return;
  const std::vector<std::string> names = ColumnNames(path, *csv, options.part, diagnostics);
  if (diagnostics.has_errors()) ThrowFirst(diagnostics);
  int64_t needed = 0;
  for (const DataField& field : options.fields) needed += field.shape.Elements();
  if (options.group_by) ++needed;  // its column is there beside them
  if (spec_ == nullptr) {
    if (names.empty() || std::ssize(names) == needed) return;
    ThrowFileError(path, "is a table of " + CountText(std::ssize(names), "column") +
                             ", but this model takes " + TakenText(options.fields));
  }
  const std::set<size_t> columns = LabelColumns(label->second, names, needed);
  options.values.erase("label");
  const DataFindings shared = SharedFindings(options);
  const auto known = shared.names.find(kCsvColumns);
  // One that is missing is reported where the columns are found.
  const bool by_name = csv->header && known != shared.names.end() &&
                       !AreNumbered(known->second, names) && AreUnique(known->second, names);
  if (!options.values.contains("columns") && !columns.empty() && !by_name) {
    options.values["columns"] = AllBut(WithGroup(columns, options, names), names);
  }
}

// A file to predict need not have labels.
void TableReader::PrepareLines(const std::string& path, DataOptions& options) const {
  if (kept_.names.contains(kVocabularyKey)) options.values.erase("vocabulary");
  const auto vocabulary = options.values.find("vocabulary");
  if (vocabulary != options.values.end()) {
    vocabulary->second.value = ResolvePath(model_.file_name, vocabulary->second.value);
  }
  if (options.values.contains("label") && !BeginsWithTab(path)) options.values.erase("label");
}

CsvOptions TableReader::Csv() const {
  Diagnostics diagnostics;
  DataOptions options;
  if (spec_ != nullptr) TakeOptions(options);
  std::optional<CsvOptions> csv = ReadCsvOptions(options, diagnostics);
  if (!csv) ThrowFirst(diagnostics);
  return *csv;
}

PredictTable TableReader::Open(const std::string& path, const std::vector<DataField>& inputs,
                               Diagnostics& warnings, const TablePart* part) const {
  Diagnostics diagnostics;
  DataOptions options;
  options.part = part;
  if (spec_ != nullptr && model_.data->group_by) {
    const auto& [column, mark] = *model_.data->group_by;
    options.group_by = DataOption{column, mark};
  }
  options.to_predict = true;
  options.predicted_as = place_;
  options.fields = inputs;
  options.memory_limit = FreeHostMemory();
  if (IsOfFormat(kept_)) options.kept = &kept_;
  if (spec_ != nullptr && !TakeOptions(options)) ThrowFileError(path, "cannot be read");
  options.values["file"] = {path, {}};
  std::shared_ptr<const Dataset> training;
  if (NeedsTraining(options)) {
    training = Training();
    options.train = training.get();
    const auto missing = options.values.find("missing");
    const bool mean = missing != options.values.end() && missing->second.value == "mean";
    if (!training && mean) options.values.erase("missing");  // a gap is an error
    if (!training && (!mean || IsTrue(options, "standardize"))) {
      ThrowFileError(path,
                     "is read by what the training data have, which are not there, and the "
                     "weights do not keep it",
                     IsOfFormat(kept_) ? "" : "weights that were trained on such data keep it");
    }
  }
  if (format_ == "csv") PrepareTable(path, options);
  if (format_ == "lines") PrepareLines(path, options);
  std::shared_ptr<const Dataset> samples = OpenDataset({format_, {}}, options, diagnostics);
  if (!samples) ThrowFirst(diagnostics);
  for (const Diagnostic& item : diagnostics.Sorted()) {
    warnings.Warning(item.mark, item.message, item.help);
  }
  const std::vector<DataField>& fields = samples->fields();
  if (fields.size() != inputs.size()) {
    ThrowOtherFields(path, fields, inputs);
  }
  PredictTable table{std::move(samples), FieldsFor(inputs, fields)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    CheckField(path, fields[table.fields[i]], inputs[i], of_text());
  }
  return table;
}

}  // namespace cgrun
