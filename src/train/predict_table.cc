// The options of the model's data, but that the columns of its labels are left out by number.
#include "src/train/predict_table.h"

#include <algorithm>
#include <set>
#include <vector>

#include "src/data/csv_layout.h"
#include "src/data/csv_reader.h"
#include "src/data/options.h"
#include "src/data/text_number.h"
#include "src/device/device.h"
#include "src/io/file_error.h"
#include "src/train/model_data.h"

namespace cgrun {
namespace {

constexpr std::string_view kTables[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz"};
constexpr std::string_view kTabTables[] = {".tsv", ".tsv.gz"};

[[noreturn]] void ThrowFirst(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity != Severity::kError) continue;
    const std::string place = item.mark.ToString();
    const int others = diagnostics.error_count() - 1;
    throw InputError((place.empty() ? "" : place + ": ") + item.message +
                         (others > 0 ? " (and " + std::to_string(others) + " more)" : ""),
                     item.help);
  }
  throw InputError("the table cannot be read", "");
}

// The names in the first line; numbers where it has none.
std::vector<std::string> ColumnNames(const std::string& path, const CsvOptions& csv,
                                     Diagnostics& diagnostics) {
  std::vector<std::string> names;
  CsvReader reader(path, csv.delimiter, diagnostics);
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

// A list of all columns but these.
DataOption AllBut(const std::set<size_t>& left_out, const std::vector<std::string>& names) {
  DataOption columns;
  for (size_t i = 0; i < names.size(); ++i) {
    if (left_out.contains(i)) continue;
    const std::string number = std::to_string(i + 1);
    const bool is_name = std::ranges::find(names, number) != names.end();
    columns.items.push_back({is_name ? names[i] : number, {}});
  }
  return columns;
}

}  // namespace

TableReader::TableReader(const ModelSpec& model) : model_(model) {
  if (!model.data) return;
  for (const auto* spec : {&model.data->train, &model.data->test, &model.data->valid}) {
    if (spec_ != nullptr || !*spec || !(*spec)->format) continue;
    if ((*spec)->format->value == "csv") spec_ = &**spec;
  }
}

bool TableReader::IsTable(const std::string& path) { return HasEnding(path, kTables); }

// Those of the model's data that say how a table is read.
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

std::shared_ptr<const Dataset> TableReader::Open(const std::string& path,
                                                 const DataField& field) const {
  Diagnostics diagnostics;
  DataOptions options;
  options.fields = {field};
  options.memory_limit = FreeHostMemory();
  const bool tabs = HasEnding(path, kTabTables);
  if (spec_ == nullptr && tabs) options.values["delimiter"] = {"tab", {}};
  if (spec_ != nullptr && !TakeOptions(options)) ThrowFileError(path, "cannot be read");
  options.values["file"] = {path, {}};
  const std::optional<CsvOptions> csv = ReadCsvOptions(options, diagnostics);
  if (!csv) ThrowFirst(diagnostics);
  const std::vector<std::string> names = ColumnNames(path, *csv, diagnostics);
  if (diagnostics.has_errors()) ThrowFirst(diagnostics);
  const auto label = options.values.find("label");
  if (label != options.values.end()) {
    const std::set<size_t> columns = LabelColumns(label->second, names, field.shape.Elements());
    if (!options.values.contains("columns") && !columns.empty()) {
      options.values["columns"] = AllBut(columns, names);
    }
    options.values.erase("label");
  }
  if (csv->missing == CsvMissing::kDrop) options.values.erase("missing");  // each row has an answer
  std::shared_ptr<const Dataset> training;
  if (csv->missing == CsvMissing::kMean) {
    training = Training();
    options.train = training.get();
    if (!training) options.values.erase("missing");  // a gap is an error
  }
  std::shared_ptr<const Dataset> table = OpenDataset({"csv", {}}, options, diagnostics);
  if (!table) ThrowFirst(diagnostics);
  const DataField& read = table->fields()[0];
  if (read.shape.Elements() == field.shape.Elements()) return table;
  ThrowFileError(path,
                 "has " + CountText(read.shape.Elements(), "column") + " of features, but input '" +
                     field.name + "' is " + std::string(Name(field.dtype)) + field.shape.ToString(),
                 "the options `label` and `columns` of the model's data say which columns are "
                 "features");
}

}  // namespace cgrun
