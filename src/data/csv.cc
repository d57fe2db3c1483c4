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
#include "src/data/csv_layout.h"
#include "src/data/csv_reader.h"
#include "src/data/dataset.h"
#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/data/tensor_dataset.h"
#include "src/data/text_number.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int kMostErrors = 20;
constexpr int kMostInColumn = 3;
constexpr size_t kMostClasses = 65536;

// The values of a CSV file; `means` are those of the features in its training samples, before gaps
// are filled: NaN where no sample has a value, none of integers.
class CsvDataset : public TensorDataset {
 public:
  CsvDataset(std::vector<FieldTensor> parts, std::vector<double> means,
             std::map<size_t, FieldRange> labels)
      : TensorDataset(std::move(parts)), means_(std::move(means)), labels_(std::move(labels)) {}

  const std::vector<double>& means() const { return means_; }

 private:
  // With the marks of the labels themselves, where they are known.
  std::optional<FieldRange> FindRange(size_t index,
                                      std::span<const int64_t> ignored) const override {
    std::optional<FieldRange> range = TensorDataset::FindRange(index, ignored);
    const auto label = labels_.find(index);
    if (!range || label == labels_.end()) return range;
    for (FieldRange::Extreme* extreme : {&range->smallest, &range->largest}) {
      for (const FieldRange::Extreme& known : {label->second.smallest, label->second.largest}) {
        const bool same = known.sample == extreme->sample && known.value == extreme->value;
        if (same) extreme->mark = known.mark;
      }
    }
    return range;
  }

  std::vector<double> means_;
  std::map<size_t, FieldRange> labels_;  // by field
};

// Whether nothing stands in a field. A class may be called "NA", in quotes.
bool IsGap(const CsvField& field, bool is_class) {
  return IsMissing(field.text) && !(is_class && field.quoted && !Trimmed(field.text).empty());
}

// A class as a field names it.
std::string_view NameIn(const CsvField& field) {
  return field.quoted ? field.text : Trimmed(field.text);
}

// "2,5": a number, were its comma a point.
bool HasDecimalComma(std::string_view text) {
  std::string number(text);
  const size_t comma = number.find(',');
  if (comma == number.npos) return false;
  number[comma] = '.';
  double value = 0.0;
  return StoreNumber(number, DType::kF64, reinterpret_cast<std::byte*>(&value)) ==
         TextNumber::kStored;
}

// A field in a message: control bytes as '?', cut where it is long.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string shown = "'";
  for (char c : text.substr(0, kMost)) shown += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return shown + (text.size() > kMost ? "...'" : "'");
}

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
    const std::optional<CsvOptions> csv = ReadCsvOptions(options_, diagnostics_);
    if (!csv) return nullptr;
    csv_ = *csv;
    ForEachRow([this](const CsvReader& reader) { SurveyRow(reader); });
    if (!Failed()) SettleClasses();
    if (Failed()) return nullptr;
    Allocate();
    if (options_.train == nullptr) PrepareMeans();
    ForEachRow([this](const CsvReader& reader) { StoreRow(reader); });
    if (!Failed() && csv_.missing == CsvMissing::kMean) FillWithMeans();
    if (Failed()) return nullptr;
    return std::make_unique<CsvDataset>(std::move(parts_), Means(), std::move(ranges_));
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }

  template <class Act>
  void ForEachRow(Act act);

  bool ReadLayout(const CsvReader& reader) {
    std::optional<CsvLayout> layout = ReadCsvLayout(csv_, options_, reader, diagnostics_);
    if (layout) layout_ = *std::move(layout);
    return layout.has_value();
  }
  void SurveyRow(const CsvReader& reader);
  void SurveyLabel(CsvLabels& label, const CsvReader& reader, const CsvField& text);
  void SettleClasses();
  void Allocate();
  void StoreRow(const CsvReader& reader);
  void StoreLabel(const CsvLabels& label, const CsvColumn& used, const CsvReader& reader,
                  const CsvField& text, std::byte* out);
  void StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                    std::byte* out);
  void ReportNumber(TextNumber error, const CsvColumn& used, const CsvReader& reader,
                    const CsvField& text);
  void NoteRange(const CsvColumn& used, const CsvReader& reader, const CsvField& text);
  void PrepareMeans();
  void AddToMean(const CsvColumn& used, const std::byte* value);
  std::vector<double> Means() const;
  void FillWithMeans();
  template <class T>
  void FillWithMeans(std::span<T> values, const std::vector<double>& means);

  // "column 'age'", "label 'price'".
  std::string ColumnText(const CsvColumn& used) const {
    return (used.field == 0 ? "column '" : "label '") + layout_.names[used.column] + "'";
  }
  DType DTypeOf(const CsvColumn& used) const { return layout_.fields[used.field].dtype; }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  const DataOption& file_option_;
  const std::string path_;

  CsvOptions csv_;
  CsvLayout layout_;
  int64_t rows_ = 0;  // of this pass
  int64_t all_rows_ = 0;
  std::vector<FieldTensor> parts_;
  // Of a training set whose features are fractions: what it says about their columns, of the rows
  // that are not split away.
  std::vector<double> sums_;
  std::vector<int64_t> counts_;
  std::vector<bool> held_out_;           // by row
  std::map<size_t, int> number_errors_;  // a column: texts that are no numbers
  std::map<size_t, FieldRange> ranges_;  // of the integers in fields of labels
};

// Calls `act` for each row with as many fields as there are columns.
template <class Act>
void CsvOpener::ForEachRow(Act act) {
  const bool first_pass = layout_.names.empty();
  rows_ = 0;
  try {
    CsvReader reader(path_, csv_.delimiter, diagnostics_);
    for (bool first = true; reader.Next(); first = false) {
      if (diagnostics_.error_count() - errors_before_ >= kMostErrors) {
        diagnostics_.Error({reader.mark().file, 0, 0}, "further errors of this file are not shown");
        return;
      }
      if (first && first_pass && !ReadLayout(reader)) return;
      if (first && csv_.header) continue;
      if (reader.fields().size() != layout_.names.size()) {
        diagnostics_.Error(reader.mark(),
                           "this line has " +
                               CountText(static_cast<int64_t>(reader.fields().size()), "field") +
                               ", but the first one has " + std::to_string(layout_.names.size()));
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
    ThrowFileError(path_, layout_.names.empty() ? "is empty" : "holds no samples below its header");
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
}

// The first pass: which names the labels are.
void CsvOpener::SurveyRow(const CsvReader& reader) {
  for (auto& [column, label] : layout_.labels) {
    if (label.may_be_names) SurveyLabel(label, reader, reader.fields()[column]);
  }
  all_rows_ = rows_ + 1;
}

void CsvOpener::SurveyLabel(CsvLabels& label, const CsvReader& reader, const CsvField& text) {
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
  for (auto& [column, label] : layout_.labels) {
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
    for (const DataField& field : layout_.fields) {
      std::vector<int64_t> sizes = field.shape.Sizes();
      sizes.insert(sizes.begin(), all_rows_);
      const std::optional<int64_t> bytes = CheckedByteSize(field.dtype, sizes);
      if (!bytes || *bytes > left) {
        ThrowFileError(path_,
                       ": its " + std::to_string(all_rows_) + " samples of '" + field.name +
                           "' take more than the " + MemoryText(left) + " that are left",
                       "raise the memory limit, or use fewer samples or columns");
      }
      left -= *bytes;
      parts_.push_back(
          {field.name, AllocateTensor(path_, field.dtype, sizes), path_, file_option_.mark, {}});
    }
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
  for (const CsvColumn& used : layout_.used) {
    const auto label = layout_.labels.find(used.column);
    if (used.field == 0 || label == layout_.labels.end() || Failed()) continue;
    const bool alone = layout_.fields[used.field].shape.Elements() == 1;
    if (alone) parts_[used.field].classes = label->second.classes.names;
  }
}

// The second pass.
void CsvOpener::StoreRow(const CsvReader& reader) {
  if (Failed() && parts_.size() < layout_.fields.size()) return;
  for (const CsvColumn& used : layout_.used) {
    const CsvField& text = reader.fields()[used.column];
    const int64_t sample = layout_.fields[used.field].bytes();
    std::byte* out = parts_[used.field].tensor.bytes().data() + rows_ * sample + used.offset;
    const auto label = layout_.labels.find(used.column);
    if (IsGap(text, used.field > 0 && label != layout_.labels.end())) {
      StoreMissing(used, reader, text, out);
    } else if (used.field > 0 && label != layout_.labels.end() && !label->second.labels.empty()) {
      StoreLabel(label->second, used, reader, text, out);
    } else {
      const TextNumber stored = StoreNumber(text.text, DTypeOf(used), out);
      if (stored != TextNumber::kStored) ReportNumber(stored, used, reader, text);
      if (stored == TextNumber::kStored && used.field == 0) AddToMean(used, out);
      if (stored == TextNumber::kStored && used.field > 0) NoteRange(used, reader, text);
    }
  }
}

void CsvOpener::StoreLabel(const CsvLabels& label, const CsvColumn& used, const CsvReader& reader,
                           const CsvField& text, std::byte* out) {
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

void CsvOpener::StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                             std::byte* out) {
  if (used.field > 0 || csv_.missing == CsvMissing::kError) {
    diagnostics_.Error(reader.MarkOf(text), ColumnText(used) + " has no value here",
                       used.field > 0
                           ? "a sample needs its label: leave the line out"
                           : "`missing: mean`, `missing: zero` or a number fills such gaps");
    return;
  }
  const TextNumber stored = csv_.missing == CsvMissing::kNumber
                                ? StoreNumber(csv_.filler, DTypeOf(used), out)
                                : TextNumber::kStored;
  if (stored != TextNumber::kStored) {
    diagnostics_.Error(FindOption(options_, "missing")->mark,
                       "'" + csv_.filler + "' is no value of " + std::string(Name(DTypeOf(used))));
  }
  if (csv_.missing == CsvMissing::kNumber) return;
  // Filled at the end, when the means are known.
  if (DTypeOf(used) == DType::kF64) {
    const double gap = std::numeric_limits<double>::quiet_NaN();
    std::memcpy(out, &gap, sizeof(gap));
  } else {
    const float gap = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(out, &gap, sizeof(gap));
  }
}

void CsvOpener::ReportNumber(TextNumber error, const CsvColumn& used, const CsvReader& reader,
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
      help = HasDecimalComma(text.text) ? "a fraction is written with a point, as 2.5"
             : used.field > 0 && DTypeOf(used) == DType::kI32
                 ? "the labels of the training data are integers"
             : used.field > 0 ? "a label by name wants an input of int32"
             : rows_ == 0 && !csv_.header
                 ? "if the first line holds names, leave `header: false` out"
                 : "leave columns of text out: `columns: [...]` lists those that are used";
  }
  diagnostics_.Error(reader.MarkOf(text), ColumnText(used) + what, help);
}

// Where the smallest and the largest label stand.
void CsvOpener::NoteRange(const CsvColumn& used, const CsvReader& reader, const CsvField& text) {
  if (IsFloat(DTypeOf(used))) return;
  const DataField& field = layout_.fields[used.field];
  const int64_t place = rows_ * field.shape.Elements() + used.offset / SizeOf(field.dtype);
  const auto value = static_cast<int64_t>(parts_[used.field].tensor.At(place));
  const auto known = ranges_.find(used.field);
  const bool is_new = known == ranges_.end();
  if (!is_new && value >= known->second.smallest.value && value <= known->second.largest.value) {
    return;
  }
  const FieldRange::Extreme here{value, rows_, path_, reader.MarkOf(text)};
  FieldRange& range = is_new ? ranges_[used.field] : known->second;
  if (is_new || value < range.smallest.value) range.smallest = here;
  if (is_new || value > range.largest.value) range.largest = here;
}

void CsvOpener::PrepareMeans() {
  if (Failed() || !IsFloat(layout_.fields[0].dtype)) return;
  const auto columns = static_cast<size_t>(layout_.fields[0].shape.Elements());
  sums_.assign(columns, 0.0);
  counts_.assign(columns, 0);
  held_out_.assign(static_cast<size_t>(all_rows_), false);
  if (!options_.split) return;
  const auto [fraction, seed, test, order] = *options_.split;
  const SplitIndices split = SplitSamples(all_rows_, fraction, seed, test, order);
  for (int64_t row : split.valid) held_out_[static_cast<size_t>(row)] = true;
  for (int64_t row : split.test) held_out_[static_cast<size_t>(row)] = true;
}

void CsvOpener::AddToMean(const CsvColumn& used, const std::byte* value) {
  if (sums_.empty() || held_out_[static_cast<size_t>(rows_)]) return;
  double number = 0.0;
  if (DTypeOf(used) == DType::kF64) {
    std::memcpy(&number, value, sizeof(number));
  } else {
    float single = 0.0F;
    std::memcpy(&single, value, sizeof(single));
    number = static_cast<double>(single);
  }
  const auto column = static_cast<size_t>(used.offset / SizeOf(DTypeOf(used)));
  sums_[column] += number;
  ++counts_[column];
}

std::vector<double> CsvOpener::Means() const {
  std::vector<double> means;
  for (size_t i = 0; i < sums_.size(); ++i) {
    means.push_back(counts_[i] > 0 ? sums_[i] / static_cast<double>(counts_[i])
                                   : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

// Always with the means of the training data, whatever that fills its own gaps with.
void CsvOpener::FillWithMeans() {
  const auto* train = dynamic_cast<const CsvDataset*>(options_.train);
  if (options_.train != nullptr && train == nullptr) {
    diagnostics_.Error(FindOption(options_, "missing")->mark,
                       "the means are those of the training data, which are not csv",
                       "`missing: zero` or a number fills gaps without them");
    return;
  }
  const std::vector<double> means = train == nullptr ? Means() : train->means();
  HostTensor& features = parts_[0].tensor;
  if (features.dtype() == DType::kF64) FillWithMeans(features.data<double>(), means);
  if (features.dtype() == DType::kF32) FillWithMeans(features.data<float>(), means);
}

// NaN stands for what is missing.
template <class T>
void CsvOpener::FillWithMeans(std::span<T> values, const std::vector<double>& means) {
  const size_t columns = values.size() / static_cast<size_t>(all_rows_);
  if (means.size() != columns) return;  // not the columns of the input: that is reported
  for (size_t column = 0; column < columns; ++column) {
    bool gap = false;
    for (size_t i = column; i < values.size(); i += columns) {
      if (!std::isnan(values[i])) continue;
      values[i] = static_cast<T>(means[column]);
      gap = true;
    }
    if (!gap || !std::isnan(means[column])) continue;
    const char* where = options_.train != nullptr ? " in the training data"
                        : options_.split          ? " in the training samples"
                                                  : "";
    diagnostics_.Error(file_option_.mark, "'" + path_ + "': " + ColumnText(layout_.used[column]) +
                                              " has no value at all" + where +
                                              ", so it has no mean");
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
