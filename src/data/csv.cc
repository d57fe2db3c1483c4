// Tables of numbers as comma-separated text: some columns are the features of a sample, others its
// labels. The file is read twice: once for what there is (rows, classes), which says how much
// memory is needed, and once for the values. CsvOpener is the entry point.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/data/classes.h"
#include "src/data/csv_reader.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/data/tensor_dataset.h"
#include "src/data/text_number.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int kMostErrors = 20;
constexpr int kMostInColumn = 3;
constexpr size_t kMostClasses = 65536;
constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kI64, DType::kI32, DType::kU8};

// The values of a CSV file; `means` are the features' in the file, where gaps are filled with them.
class CsvDataset : public TensorDataset {
 public:
  CsvDataset(std::vector<FieldTensor> parts, std::vector<double> means)
      : TensorDataset(std::move(parts)), means_(std::move(means)) {}

  const std::vector<double>& means() const { return means_; }

 private:
  std::vector<double> means_;
};

// Whether nothing stands in a field. A class may be called "NA", in quotes.
bool IsGap(const CsvField& field, bool is_class) {
  return IsMissing(field.text) && !(is_class && field.quoted && !Trimmed(field.text).empty());
}

// A class as a field names it.
std::string_view NameIn(const CsvField& field) {
  return field.quoted ? field.text : Trimmed(field.text);
}

// A field in a message: control bytes as '?', cut where it is long.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string shown = "'";
  for (char c : text.substr(0, kMost)) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return shown + (text.size() > kMost ? "...'" : "'");
}

enum class Missing { kError, kMean, kNumber };

// One column that is used.
struct UsedColumn {
  size_t column;  // from 0
  size_t field;
  int64_t offset;  // bytes in a sample of the field
};

// How the texts of a label column become labels, where the field is of int32.
struct LabelColumn {
  ClassTable classes;  // empty where the labels are integers
  std::map<std::string, int32_t, std::less<>> labels;
  bool may_be_names = false;          // while the first pass looks at them
  std::set<std::string> names;        // that the first pass has met
  std::optional<SourceMark> name;     // where the first of them stands …
  std::optional<SourceMark> integer;  // … and the first integer
};

class CsvOpener {
 public:
  CsvOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        file_option_(*FindOption(options, "file")),
        path_(ResolvePath(options, file_option_)) {}

  // Null after an error.
  std::unique_ptr<Dataset> Open() {
    ReadOptions();
    if (Failed()) return nullptr;
    ForEachRow([this](const CsvReader& reader) { SurveyRow(reader); });
    if (!Failed()) SettleClasses();
    if (Failed()) return nullptr;
    Allocate();
    ForEachRow([this](const CsvReader& reader) { StoreRow(reader); });
    if (!Failed() && missing_ == Missing::kMean) FillWithMeans();
    if (Failed()) return nullptr;
    return std::make_unique<CsvDataset>(std::move(parts_), std::move(means_));
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }

  void ReadOptions();
  void ReadMissing();
  void ReadDelimiter();

  template <class Act>
  void ForEachRow(Act act);
  bool TakeFirstRecord(const CsvReader& reader);
  std::optional<size_t> FindColumn(const DataOption& name);
  std::vector<size_t> FindColumns(std::string_view option);
  std::string DelimiterHelp() const;
  bool ChooseColumns(const CsvReader& reader);
  void AddFields(const std::vector<size_t>& features, const std::vector<size_t>& labels);
  void AddField(std::vector<std::string> names, const std::vector<size_t>& columns);
  void PrepareLabels(const std::vector<size_t>& labels);

  void SurveyRow(const CsvReader& reader);
  void SurveyLabel(LabelColumn& label, const CsvReader& reader, const CsvField& text);
  void SettleClasses();
  void Allocate();
  void StoreRow(const CsvReader& reader);
  void StoreLabel(const LabelColumn& label, const UsedColumn& used, const CsvReader& reader,
                  const CsvField& text, std::byte* out);
  void StoreMissing(const UsedColumn& used, const CsvReader& reader, const CsvField& text,
                    std::byte* out);
  void ReportNumber(TextNumber error, const UsedColumn& used, const CsvReader& reader,
                    const CsvField& text);
  void FillWithMeans();
  template <class T>
  void FillWithMeans(std::span<T> values);

  // "column 'age'", "label 'price'".
  std::string ColumnText(const UsedColumn& used) const {
    return (used.field == 0 ? "column '" : "label '") + names_[used.column] + "'";
  }
  DType DTypeOf(const UsedColumn& used) const { return fields_[used.field].dtype; }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  const DataOption& file_option_;
  const std::string path_;

  bool header_ = true;
  char delimiter_ = ',';
  Missing missing_ = Missing::kError;
  std::string filler_;  // the number for what is missing

  std::vector<std::string> names_;        // of the columns; from "1" without a header
  std::string first_line_;                // of a single column, for the help
  std::vector<DataField> fields_;         // features first
  std::vector<UsedColumn> used_;          // in the order of fields
  std::map<size_t, LabelColumn> labels_;  // by column, those of int32
  int64_t rows_ = 0;                      // of this pass
  int64_t all_rows_ = 0;
  std::vector<FieldTensor> parts_;
  std::vector<double> means_;
  std::map<size_t, int> number_errors_;  // a column: texts that are no numbers
};

void CsvOpener::ReadOptions() {
  header_ = BooleanOption(options_, "header", true, diagnostics_).value_or(true);
  ReadDelimiter();
  ReadMissing();
}

void CsvOpener::ReadDelimiter() {
  const DataOption* option = FindOption(options_, "delimiter");
  if (option == nullptr) return;
  const bool tab = option->value == "tab" || option->value == "\\t";
  const bool bad = option->value.size() != 1 ||
                   std::string_view("\"\r\n").find(option->value[0]) != std::string_view::npos;
  if (!tab && bad) {
    diagnostics_.Error(option->mark, "option 'delimiter' is '" + option->value +
                                         "', but must be one character, or `tab`");
    return;
  }
  delimiter_ = tab ? '\t' : option->value[0];
}

void CsvOpener::ReadMissing() {
  const DataOption* option = FindOption(options_, "missing");
  if (option == nullptr || option->value == "error") return;
  missing_ = option->value == "mean" ? Missing::kMean : Missing::kNumber;
  filler_ = option->value == "zero" ? "0" : option->value;
  double number = 0.0;
  if (missing_ == Missing::kMean ||
      StoreNumber(filler_, DType::kF64, reinterpret_cast<std::byte*>(&number)) ==
          TextNumber::kStored) {
    return;
  }
  diagnostics_.Error(option->mark, "option 'missing' is '" + option->value +
                                       "', but must be `error`, `zero`, `mean` or a number");
}

// Calls `act` for each row with as many fields as there are columns.
template <class Act>
void CsvOpener::ForEachRow(Act act) {
  const bool first_pass = names_.empty();
  rows_ = 0;
  try {
    CsvReader reader(path_, delimiter_, diagnostics_);
    for (bool first = true; reader.Next(); first = false) {
      if (diagnostics_.error_count() - errors_before_ >= kMostErrors) {
        diagnostics_.Error({reader.mark().file, 0, 0}, "further errors of this file are not shown");
        return;
      }
      if (first && first_pass && !TakeFirstRecord(reader)) return;
      if (first && header_) continue;
      if (reader.fields().size() != names_.size()) {
        diagnostics_.Error(reader.mark(),
                           "this line has " + std::to_string(reader.fields().size()) +
                               " fields, but the first one has " + std::to_string(names_.size()));
        continue;
      }
      if (!first_pass && rows_ == all_rows_) ThrowFileError(path_, "changed while it was read");
      act(reader);
      ++rows_;
    }
    if (!first_pass && rows_ != all_rows_ && !Failed()) {
      ThrowFileError(path_, "changed while it was read");
    }
    if (rows_ > 0 || Failed()) return;
    ThrowFileError(path_, names_.empty() ? "is empty" : "holds no samples below its header");
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
}

// The names of the columns. False after an error.
bool CsvOpener::TakeFirstRecord(const CsvReader& reader) {
  double number = 0.0;
  bool all_numbers = true;
  for (const CsvField& field : reader.fields()) {
    all_numbers &= StoreNumber(field.text, DType::kF64, reinterpret_cast<std::byte*>(&number)) ==
                   TextNumber::kStored;
    names_.push_back(header_ ? std::string(field.quoted ? field.text : Trimmed(field.text))
                             : std::to_string(names_.size() + 1));
  }
  if (names_.size() == 1) first_line_ = reader.fields()[0].text;
  if (header_ && all_numbers) {
    diagnostics_.Warning(reader.mark(),
                         "the first line is taken for the names of the columns, but holds numbers",
                         "`header: false` says that there are no names");
  }
  return ChooseColumns(reader);
}

std::string CsvOpener::DelimiterHelp() const {
  for (const auto& [delimiter, name] :
       {std::pair(';', ";"), {'\t', "tab"}, {'|', "|"}, {',', ","}}) {
    if (first_line_.find(delimiter) == first_line_.npos) continue;
    return std::string("there is one column only; if another character separates them: ") +
           "`delimiter: \"" + name + "\"`";
  }
  return "";
}

// A column by its name or its number.
std::optional<size_t> CsvOpener::FindColumn(const DataOption& name) {
  const auto count = std::ranges::count(names_, name.value);
  if (count > 1) {
    diagnostics_.Error(name.mark,
                       std::to_string(count) + " columns are called '" + name.value + "'",
                       "a number, from 1, names a column too");
    return std::nullopt;
  }
  if (count == 1) {
    return static_cast<size_t>(std::ranges::find(names_, name.value) - names_.begin());
  }
  const auto columns = static_cast<int64_t>(names_.size());
  const std::optional<int32_t> number = ParseInt32(name.value);
  if (number && *number != 0 && std::abs(int64_t{*number}) <= columns) {
    return static_cast<size_t>(*number > 0 ? *number - 1 : columns + *number);
  }
  std::string help = DelimiterHelp();
  if (help.empty()) help = header_ ? SuggestName(name.value, names_) : "";
  diagnostics_.Error(name.mark,
                     number ? "there is no column " + name.value + ": the columns are 1 to " +
                                  std::to_string(columns) + ", or -1 for the last"
                            : "'" + path_ + "': has no column '" + name.value + "'",
                     help);
  return std::nullopt;
}

std::vector<size_t> CsvOpener::FindColumns(std::string_view option) {
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

bool CsvOpener::ChooseColumns(const CsvReader& reader) {
  const std::vector<size_t> labels = FindColumns("label");
  std::vector<size_t> features = FindColumns("columns");
  const DataOption* chosen = FindOption(options_, "columns");
  for (size_t column = 0; column < names_.size(); ++column) {
    const bool is_label = std::ranges::find(labels, column) != labels.end();
    if (chosen == nullptr && !is_label) features.push_back(column);
    if (chosen != nullptr && is_label && std::ranges::find(features, column) != features.end()) {
      diagnostics_.Error(chosen->mark, "column '" + names_[column] + "' is the label too");
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
void CsvOpener::AddFields(const std::vector<size_t>& features, const std::vector<size_t>& labels) {
  const auto is_input = [&](const std::string& name) {
    return std::ranges::find(options_.fields, name, &DataField::name) != options_.fields.end();
  };
  std::vector<std::string> names = {"features"};
  const bool together = labels.size() > 1 && options_.fields.size() == 2;
  const bool by_column = labels.size() == 1 && header_ && is_input(names_[labels[0]]);
  if (together || (labels.size() == 1 && !by_column)) {
    names.push_back("label");
  } else {
    for (size_t label : labels) names.push_back(header_ ? names_[label] : "label" + names_[label]);
  }
  AddField(names, features);
  for (size_t i = 1; i < names.size(); ++i) {
    AddField(names, together ? labels : std::vector<size_t>{labels[i - 1]});
  }
}

// The next of the fields called `names`.
void CsvOpener::AddField(std::vector<std::string> names, const std::vector<size_t>& columns) {
  const size_t index = fields_.size();
  const auto count = static_cast<int64_t>(columns.size());
  DataField field{names[index], DType::kF32, index > 0 && count == 1 ? Shape() : Shape{count}};
  if (const DataField* wanted = WantedField(options_, names, index)) {
    field.dtype = wanted->dtype;
    if (wanted->shape.Elements() == count) field.shape = wanted->shape;
    if (std::ranges::find(kTypes, field.dtype) == std::end(kTypes)) {
      diagnostics_.Error(file_option_.mark,
                         "input '" + wanted->name + "' is " + std::string(Name(field.dtype)) +
                             ", which csv data cannot be",
                         "known: f32, f64, int32, int64, uint8");
    }
    if (index == 0 && missing_ == Missing::kMean && !IsFloat(field.dtype)) {
      diagnostics_.Error(FindOption(options_, "missing")->mark,
                         "a mean is no integer, and input '" + wanted->name + "' is " +
                             std::string(Name(field.dtype)),
                         "an input of f32 takes it");
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    used_.push_back({columns[i], index, static_cast<int64_t>(i) * SizeOf(field.dtype)});
  }
  fields_.push_back(std::move(field));
}

void CsvOpener::PrepareLabels(const std::vector<size_t>& labels) {
  const DataOption* classes = FindOption(options_, "classes");
  for (const UsedColumn& used : used_) {
    if (used.field == 0 || DTypeOf(used) != DType::kI32) continue;
    LabelColumn& label = labels_[used.column];
    std::optional<ClassTable> known =
        KnownClasses(options_, fields_[used.field].name, diagnostics_);
    if (!known) continue;
    label.classes = *std::move(known);
    label.labels = LabelsOf(label.classes);
    label.may_be_names = !label.classes.fixed() && options_.train == nullptr;
  }
  if (classes == nullptr || (labels.size() == 1 && labels_.size() == 1)) return;
  diagnostics_.Error(classes->mark, labels.empty() ? "there are classes, but no 'label'"
                                    : labels.size() == 1
                                        ? "there are classes, but the label's input is not int32"
                                        : "several labels cannot share one list of classes");
}

// The first pass: which names the labels are.
void CsvOpener::SurveyRow(const CsvReader& reader) {
  for (auto& [column, label] : labels_) {
    if (label.may_be_names) SurveyLabel(label, reader, reader.fields()[column]);
  }
  all_rows_ = rows_ + 1;
}

void CsvOpener::SurveyLabel(LabelColumn& label, const CsvReader& reader, const CsvField& text) {
  if (IsGap(text, true)) return;  // the second pass reports it
  if (ParseInt32(text.text)) {
    if (!label.integer) label.integer = reader.MarkOf(text);
    return;
  }
  if (!label.name) label.name = reader.MarkOf(text);
  label.names.emplace(NameIn(text));
  if (label.names.size() <= kMostClasses) return;
  diagnostics_.Error(reader.MarkOf(text),
                     "the label has more than " + std::to_string(kMostClasses) + " classes",
                     "a label that is a measure wants an input of f32");
  label.may_be_names = false;
}

// Names in their order, unless all labels are integers.
void CsvOpener::SettleClasses() {
  for (auto& [column, label] : labels_) {
    if (label.names.empty()) continue;
    if (label.integer) {
      diagnostics_.Error(*label.name,
                         "this label is not an integer, but the one in line " +
                             std::to_string(label.integer->line) + " is",
                         "if they are names all the same, list them: `classes: [a, b, c]`");
      continue;
    }
    label.classes.names.assign(label.names.begin(), label.names.end());
    label.names.clear();
    label.labels = LabelsOf(label.classes);
  }
}

void CsvOpener::Allocate() {
  int64_t left = options_.memory_limit;
  try {
    for (const DataField& field : fields_) {
      std::vector<int64_t> sizes = field.shape.Sizes();
      sizes.insert(sizes.begin(), all_rows_);
      const std::optional<int64_t> bytes = CheckedByteSize(field.dtype, sizes);
      if (!bytes || *bytes > left) {
        ThrowFileError(path_,
                       "its " + std::to_string(all_rows_) + " samples of '" + field.name +
                           "' take more than the " + std::to_string(left) + " bytes that are left",
                       "raise the memory limit, or use fewer samples or columns");
      }
      left -= *bytes;
      parts_.push_back(
          {field.name, AllocateTensor(path_, field.dtype, sizes), path_, file_option_.mark, {}});
    }
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
  for (const UsedColumn& used : used_) {
    const auto label = labels_.find(used.column);
    if (used.field == 0 || label == labels_.end() || Failed()) continue;
    const bool alone = fields_[used.field].shape.Elements() == 1;
    if (alone) parts_[used.field].classes = label->second.classes.names;
  }
}

// The second pass.
void CsvOpener::StoreRow(const CsvReader& reader) {
  if (Failed() && parts_.size() < fields_.size()) return;
  for (const UsedColumn& used : used_) {
    const CsvField& text = reader.fields()[used.column];
    const int64_t sample = fields_[used.field].bytes();
    std::byte* out = parts_[used.field].tensor.bytes().data() + rows_ * sample + used.offset;
    const auto label = labels_.find(used.column);
    if (IsGap(text, used.field > 0 && label != labels_.end())) {
      StoreMissing(used, reader, text, out);
    } else if (used.field > 0 && label != labels_.end() && !label->second.labels.empty()) {
      StoreLabel(label->second, used, reader, text, out);
    } else {
      const TextNumber stored = StoreNumber(text.text, DTypeOf(used), out);
      if (stored != TextNumber::kStored) ReportNumber(stored, used, reader, text);
    }
  }
}

void CsvOpener::StoreLabel(const LabelColumn& label, const UsedColumn& used,
                           const CsvReader& reader, const CsvField& text, std::byte* out) {
  const auto found = label.labels.find(NameIn(text));
  if (found != label.labels.end()) {
    std::memcpy(out, &found->second, sizeof(found->second));
    return;
  }
  diagnostics_.Error(reader.MarkOf(text),
                     ColumnText(used) + ": " + Shown(text.text) + " is none of the classes " +
                         label.classes.origin,
                     SuggestName(text.text, label.classes.names));
}

void CsvOpener::StoreMissing(const UsedColumn& used, const CsvReader& reader, const CsvField& text,
                             std::byte* out) {
  if (used.field > 0 || missing_ == Missing::kError) {
    diagnostics_.Error(reader.MarkOf(text), ColumnText(used) + " has no value here",
                       used.field > 0
                           ? "a sample needs its label: leave the line out"
                           : "`missing: mean`, `missing: zero` or a number fills such gaps");
    return;
  }
  const TextNumber stored =
      missing_ == Missing::kNumber ? StoreNumber(filler_, DTypeOf(used), out) : TextNumber::kStored;
  if (stored != TextNumber::kStored) {
    diagnostics_.Error(FindOption(options_, "missing")->mark,
                       "'" + filler_ + "' is no value of " + std::string(Name(DTypeOf(used))));
  }
  if (missing_ == Missing::kNumber) return;
  // Filled at the end, when the means are known.
  if (DTypeOf(used) == DType::kF64) {
    const double gap = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(out, &gap, sizeof(gap));
  } else {
    const float gap = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(out, &gap, sizeof(gap));
  }
}

void CsvOpener::ReportNumber(TextNumber error, const UsedColumn& used, const CsvReader& reader,
                             const CsvField& text) {
  if (++number_errors_[used.column] > kMostInColumn) return;  // it is a column of texts
  const std::string dtype(Name(DTypeOf(used)));
  std::string what = ": " + Shown(text.text) + " ", help;
  switch (error) {
    case TextNumber::kNotFinite:
      what += "is not finite";
      break;
    case TextNumber::kNotInteger:
      what += "is not an integer";
      help = "an input of f32 takes fractions";
      break;
    case TextNumber::kTooLarge:
      what += "is too large for " + dtype;
      break;
    default:
      what += "is not a number";
      help = used.field > 0 && DTypeOf(used) == DType::kI32
                 ? "the labels of the training data are integers"
             : used.field > 0 ? "a label by name wants an input of int32"
             : rows_ == 0 && !header_
                 ? "if the first line holds names, leave `header: false` out"
                 : "leave columns of text out: `columns: [...]` lists those that are used";
  }
  diagnostics_.Error(reader.MarkOf(text), ColumnText(used) + what, help);
}

void CsvOpener::FillWithMeans() {
  HostTensor& features = parts_[0].tensor;
  if (const auto* train = dynamic_cast<const CsvDataset*>(options_.train)) means_ = train->means();
  if (features.dtype() == DType::kF64) FillWithMeans(features.data<double>());
  if (features.dtype() == DType::kF32) FillWithMeans(features.data<float>());
}

// NaN stands for what is missing. The training set's means are used where it has them.
template <class T>
void CsvOpener::FillWithMeans(std::span<T> values) {
  const size_t columns = values.size() / static_cast<size_t>(all_rows_);
  const bool known = means_.size() == columns;
  if (!known) means_.assign(columns, 0.0);
  for (size_t column = 0; column < columns; ++column) {
    double sum = 0.0;
    int64_t count = 0;
    for (size_t i = column; i < values.size(); i += columns) {
      if (std::isnan(values[i])) continue;
      sum += static_cast<double>(values[i]);
      ++count;
    }
    if (!known && count == 0) {
      diagnostics_.Error(file_option_.mark, "'" + path_ + "': " + ColumnText(used_[column]) +
                                                " has no value at all, so it has no mean");
      continue;
    }
    if (!known) means_[column] = sum / static_cast<double>(count);
    for (size_t i = column; i < values.size(); i += columns) {
      if (std::isnan(values[i])) values[i] = static_cast<T>(means_[column]);
    }
  }
}

std::unique_ptr<Dataset> OpenCsv(const DataOptions& options, Diagnostics& diagnostics) {
  return CsvOpener(options, diagnostics).Open();
}

constexpr DataOptionSpec kOptions[] = {
    {"file", true, "the file, plain or compressed by gzip"},
    {"label", false,
     "the column of the label, or a list of columns: names, or numbers from 1; -1 is the last. "
     "Without it there are features alone",
     true},
    {"columns", false,
     "the columns of the features, in this order; default all but the label, in the file's order",
     true},
    {"header", false, "whether the first line names the columns; default true"},
    {"delimiter", false, "the character between two fields, or `tab`; default a comma"},
    {"missing", false,
     "what stands for a feature that is empty, `NA`, `NaN` or `?`: `zero`, a number, `mean` (of "
     "the column in the training data), or `error`, the default"},
    {"classes", false,
     "the names of labels that are texts: the first is label 0. Default: those of the training "
     "data, sorted",
     true}};

}  // namespace

extern const DataFormat kCsvFormat;
constinit const DataFormat kCsvFormat = {
    "csv",
    "tables as comma-separated text; the fields are 'features', of all their columns, and 'label', "
    "or of several labels one for each, called as its column",
    kOptions, OpenCsv};

}  // namespace cgrun
