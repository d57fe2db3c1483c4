// Columns are found by name or number; what is not a label is a feature.
#include "src/data/csv_layout.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kI64, DType::kI32, DType::kU8};

class LayoutReader {
 public:
  LayoutReader(const CsvOptions& csv, const DataOptions& options, Diagnostics& diagnostics)
      : csv_(csv),
        options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()) {}

  std::optional<CsvLayout> Read(const CsvReader& first) {
    if (!TakeFirstRecord(first)) return std::nullopt;
    return std::move(layout_);
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }
  std::string path() const { return ResolvePath(options_, *FindOption(options_, "file")); }

  bool TakeFirstRecord(const CsvReader& reader);
  std::string DelimiterHelp() const;
  std::optional<size_t> FindColumn(const DataOption& name);
  std::vector<size_t> FindColumns(std::string_view option);
  bool ChooseColumns(const CsvReader& reader);
  void AddFields(const std::vector<size_t>& features, const std::vector<size_t>& labels);
  void AddField(std::vector<std::string> names, const std::vector<size_t>& columns);
  void PrepareLabels(const std::vector<size_t>& labels);

  const CsvOptions& csv_;
  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  std::string first_line_;  // of a single column, for the help
  CsvLayout layout_;
};

// The names of the columns. False after an error.
bool LayoutReader::TakeFirstRecord(const CsvReader& reader) {
  double number = 0.0;
  bool all_numbers = true;
  for (const CsvField& field : reader.fields()) {
    all_numbers &= StoreNumber(field.text, DType::kF64, reinterpret_cast<std::byte*>(&number)) ==
                   TextNumber::kStored;
    layout_.names.push_back(csv_.header
                                ? std::string(field.quoted ? field.text : Trimmed(field.text))
                                : std::to_string(layout_.names.size() + 1));
  }
  if (layout_.names.size() == 1) first_line_ = reader.fields()[0].text;
  if (csv_.header && all_numbers) {
    diagnostics_.Warning(reader.mark(),
                         "the first line is taken for the names of the columns, but holds numbers",
                         "`header: false` says that there are no names");
  }
  return ChooseColumns(reader);
}

std::string LayoutReader::DelimiterHelp() const {
  for (const auto& [delimiter, name] :
       {std::pair(';', ";"), {'\t', "tab"}, {'|', "|"}, {',', ","}}) {
    if (first_line_.find(delimiter) == first_line_.npos) continue;
    return std::string("there is one column only; if another character separates them: ") +
           "`delimiter: \"" + name + "\"`";
  }
  return "";
}

// A column by its name or its number.
std::optional<size_t> LayoutReader::FindColumn(const DataOption& name) {
  const auto count = std::ranges::count(layout_.names, name.value);
  if (count > 1) {
    diagnostics_.Error(name.mark,
                       std::to_string(count) + " columns are called '" + name.value + "'",
                       "a number, from 1, names a column too");
    return std::nullopt;
  }
  if (count == 1) {
    return static_cast<size_t>(std::ranges::find(layout_.names, name.value) -
                               layout_.names.begin());
  }
  const auto columns = static_cast<int64_t>(layout_.names.size());
  const std::optional<int32_t> number = ParseInt32(name.value);
  if (number && *number != 0 && std::abs(int64_t{*number}) <= columns) {
    return static_cast<size_t>(*number > 0 ? *number - 1 : columns + *number);
  }
  std::string help = DelimiterHelp();
  if (help.empty()) help = csv_.header ? SuggestName(name.value, layout_.names) : "";
  diagnostics_.Error(name.mark,
                     number ? "there is no column " + name.value + ": the columns are 1 to " +
                                  std::to_string(columns) + ", or -1 for the last"
                            : "'" + path() + "' has no column '" + name.value + "'",
                     help);
  return std::nullopt;
}

std::vector<size_t> LayoutReader::FindColumns(std::string_view option) {
  const DataOption* names = FindOption(options_, option);
  std::vector<size_t> columns;
  if (names == nullptr) return columns;
  for (const DataOption& name : ItemsOf(*names)) {
    const std::optional<size_t> column = FindColumn(name);
    if (column && std::ranges::find(columns, *column) != columns.end()) {
      diagnostics_.Error(name.mark, "column '" + name.value + "' stands twice in the list");
    }
    if (column) columns.push_back(*column);
  }
  return columns;
}

bool LayoutReader::ChooseColumns(const CsvReader& reader) {
  const std::vector<size_t> labels = FindColumns("label");
  std::vector<size_t> features = FindColumns("columns");
  const DataOption* chosen = FindOption(options_, "columns");
  for (size_t column = 0; column < layout_.names.size(); ++column) {
    const bool is_label = std::ranges::find(labels, column) != labels.end();
    if (chosen == nullptr && !is_label) features.push_back(column);
    if (chosen != nullptr && is_label && std::ranges::find(features, column) != features.end()) {
      diagnostics_.Error(chosen->mark, "column '" + layout_.names[column] + "' is the label too");
    }
  }
  if (Failed()) return false;
  if (features.empty()) {
    diagnostics_.Error(reader.mark(), "beside the label there is no column", DelimiterHelp());
    return false;
  }
  AddFields(features, labels);
  if (!Failed()) PrepareLabels(labels);
  return !Failed();
}

// Each label is a field of its own, or all are one where the model has one input for them.
void LayoutReader::AddFields(const std::vector<size_t>& features,
                             const std::vector<size_t>& labels) {
  const auto is_input = [&](const std::string& name) {
    return std::ranges::find(options_.fields, name, &DataField::name) != options_.fields.end();
  };
  std::vector<std::string> names = {"features"};
  const bool together = labels.size() > 1 && options_.fields.size() == 2;
  const bool by_column = labels.size() == 1 && csv_.header && is_input(layout_.names[labels[0]]);
  if (together || (labels.size() == 1 && !by_column)) {
    names.push_back("label");
  } else {
    for (size_t label : labels)
      names.push_back(csv_.header ? layout_.names[label] : "label" + layout_.names[label]);
  }
  AddField(names, features);
  for (size_t i = 1; i < names.size(); ++i) {
    AddField(names, together ? labels : std::vector<size_t>{labels[i - 1]});
  }
}

// The next of the fields called `names`.
void LayoutReader::AddField(std::vector<std::string> names, const std::vector<size_t>& columns) {
  const size_t index = layout_.fields.size();
  const auto count = static_cast<int64_t>(columns.size());
  DataField field{names[index], DType::kF32, index > 0 && count == 1 ? Shape() : Shape{count}};
  if (const DataField* wanted = WantedField(options_, names, index)) {
    field.dtype = wanted->dtype;
    if (wanted->shape.Elements() == count) field.shape = wanted->shape;
    if (std::ranges::find(kTypes, field.dtype) == std::end(kTypes)) {
      diagnostics_.Error(FindOption(options_, "file")->mark,
                         "input '" + wanted->name + "' is " + std::string(Name(field.dtype)) +
                             ", which csv data cannot be",
                         "known: f32, f64, int32, int64, uint8");
    }
    if (index == 0 && csv_.missing == CsvMissing::kMean && !IsFloat(field.dtype)) {
      diagnostics_.Error(FindOption(options_, "missing")->mark,
                         "a mean is no integer, and input '" + wanted->name + "' is " +
                             std::string(Name(field.dtype)),
                         "an input of f32 takes it");
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    layout_.used.push_back({columns[i], index, static_cast<int64_t>(i) * SizeOf(field.dtype)});
  }
  layout_.fields.push_back(std::move(field));
}

void LayoutReader::PrepareLabels(const std::vector<size_t>& labels) {
  const DataOption* classes = FindOption(options_, "classes");
  for (const CsvColumn& used : layout_.used) {
    if (used.field == 0 || layout_.fields[used.field].dtype != DType::kI32) continue;
    std::optional<ClassTable> known =
        KnownClasses(options_, layout_.fields[used.field].name, diagnostics_);
    if (!known) known.emplace();  // which is reported
    layout_.labels[used.column] = LabelTexts(*std::move(known), options_.train == nullptr,
                                             "a label that is a measure wants an input of f32");
  }
  if (classes == nullptr || (labels.size() == 1 && layout_.labels.size() == 1)) return;
  diagnostics_.Error(classes->mark, labels.empty() ? "there are classes, but no 'label'"
                                    : labels.size() == 1
                                        ? "there are classes, but the label's input is not int32"
                                        : "several labels cannot share one list of classes");
}

void ReadDelimiter(const DataOptions& options, CsvOptions& csv, Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, "delimiter");
  if (option == nullptr) return;
  const bool tab = option->value == "tab" || option->value == "\\t";
  const bool bad = option->value.size() != 1 ||
                   std::string_view("\"\r\n").find(option->value[0]) != std::string_view::npos;
  if (!tab && bad) {
    diagnostics.Error(option->mark, "option 'delimiter' is '" + option->value +
                                        "', but must be one character, or `tab`");
    return;
  }
  csv.delimiter = tab ? '\t' : option->value[0];
}

void ReadMissing(const DataOptions& options, CsvOptions& csv, Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, "missing");
  if (option == nullptr || option->value == "error") return;
  csv.missing = option->value == "mean"   ? CsvMissing::kMean
                : option->value == "drop" ? CsvMissing::kDrop
                                          : CsvMissing::kNumber;
  csv.filler = option->value == "zero" ? "0" : option->value;
  double number = 0.0;
  if (csv.missing != CsvMissing::kNumber ||
      StoreNumber(csv.filler, DType::kF64, reinterpret_cast<std::byte*>(&number)) ==
          TextNumber::kStored) {
    return;
  }
  diagnostics.Error(option->mark, "option 'missing' is '" + option->value +
                                      "', but must be `error`, `drop`, `zero`, `mean` or a number");
}

}  // namespace

std::optional<CsvOptions> ReadCsvOptions(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  CsvOptions csv;
  csv.header = BooleanOption(options, "header", true, diagnostics).value_or(true);
  ReadDelimiter(options, csv, diagnostics);
  ReadMissing(options, csv, diagnostics);
  if (diagnostics.error_count() > errors) return std::nullopt;
  return csv;
}

std::optional<CsvLayout> ReadCsvLayout(const CsvOptions& csv, const DataOptions& options,
                                       const CsvReader& first, Diagnostics& diagnostics) {
  return LayoutReader(csv, options, diagnostics).Read(first);
}

}  // namespace cgrun
