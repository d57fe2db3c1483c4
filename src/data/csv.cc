// Tables of numbers as comma-separated text: some columns are the features of a sample, others its
// labels. The file is read twice: once for what there is (rows, classes), which says how much
// memory is needed, and once for the values. CsvOpener is the entry point.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "src/data/cell_errors.h"
#include "src/data/classes.h"
#include "src/data/column_moments.h"
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

constexpr int kMostErrors = 20;  // beside those of cells

// The values of a CSV file; `means` are those of the features in its training samples, before gaps
// are filled: NaN where no sample has a value, none of integers.
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

class CsvOpener {
 public:
  CsvOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        cell_errors_(diagnostics),
        file_option_(*FindOption(options, "file")),
        path_(ResolvePath(options, file_option_)) {}

  // Null after an error.
  std::unique_ptr<Dataset> Open() {
    const std::optional<CsvOptions> csv = ReadCsvOptions(options_, diagnostics_);
    if (!csv) return nullptr;
    csv_ = *csv;
    ForEachRow([this](const CsvReader& reader) { SurveyRow(reader); });
    for (auto& [column, label] : layout_.labels) {
      if (!Failed()) label.Settle(diagnostics_);
    }
    if (Failed()) return nullptr;
    Allocate();
    if (options_.train == nullptr) PrepareMeans();
    ForEachRow([this](const CsvReader& reader) { StoreRow(reader); });
    cell_errors_.ReportRest();
    if (!Failed() && csv_.missing == CsvMissing::kMean) FillWithMeans();
    if (Failed()) return nullptr;
    return std::make_unique<CsvDataset>(std::move(parts_), moments_.Means());
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
  bool IsDropped(const CsvReader& reader);
  void ReportNoRows();
  void Allocate();
  void StoreRow(const CsvReader& reader);
  void StoreLabel(const LabelTexts& label, const CsvColumn& used, const CsvReader& reader,
                  const CsvField& text, std::byte* out);
  void StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                    std::byte* out);
  void ReportNumber(TextNumber error, const CsvColumn& used, const CsvReader& reader,
                    const CsvField& text);
  void ReportCell(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                  const std::string& what, const std::string& help);
  void PrepareMeans();
  void AddToMean(const CsvColumn& used, const std::byte* value);
  void FillWithMeans();
  template <class T>
  void FillWithMeans(std::span<T> values, const std::vector<double>& means);

  // The label of a column whose texts may be names; null for others.
  const LabelTexts* LabelOf(const CsvColumn& used) const {
    const auto label = layout_.labels.find(used.column);
    return used.field == 0 || label == layout_.labels.end() ? nullptr : &label->second;
  }
  // "column 'age'", "label 'price'".
  std::string ColumnText(const CsvColumn& used) const {
    return (used.field == 0 ? "column '" : "label '") + layout_.names[used.column] + "'";
  }
  DType DTypeOf(const CsvColumn& used) const { return layout_.fields[used.field].dtype; }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  CellErrors cell_errors_;
  const DataOption& file_option_;
  const std::string path_;

  CsvOptions csv_;
  CsvLayout layout_;
  int64_t rows_ = 0;  // of this pass
  int64_t all_rows_ = 0;
  int64_t dropped_ = 0;  // of this pass
  std::vector<FieldTensor> parts_;
  // Of a training set whose features are fractions: what it says about their columns, of the rows
  // that are not split away.
  ColumnMoments moments_;
  std::vector<bool> held_out_;  // by row; none where nothing is found out
};

// Calls `act` for each row with as many fields as there are columns.
template <class Act>
void CsvOpener::ForEachRow(Act act) {
  const bool first_pass = layout_.names.empty();
  rows_ = dropped_ = 0;
  try {
    CsvReader reader(path_, csv_.delimiter, diagnostics_);
    for (bool first = true; reader.Next(); first = false) {
      if (diagnostics_.error_count() - errors_before_ - cell_errors_.shown() >= kMostErrors) {
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
      if (IsDropped(reader)) continue;
      if (!first_pass && rows_ == all_rows_) ThrowFileError(path_, "changed while it was read");
      act(reader);
      ++rows_;
    }
    if (!first_pass && rows_ != all_rows_ && !Failed()) {
      ThrowFileError(path_, "changed while it was read");
    }
    if (rows_ == 0 && !Failed()) ReportNoRows();
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
}

// A row with a gap, where such rows are left out.
bool CsvOpener::IsDropped(const CsvReader& reader) {
  if (csv_.missing != CsvMissing::kDrop) return false;
  const bool gap = std::ranges::any_of(layout_.used, [&](const CsvColumn& used) {
    return IsGap(reader.fields()[used.column], LabelOf(used) != nullptr);
  });
  if (gap) ++dropped_;
  return gap;
}

void CsvOpener::ReportNoRows() {
  if (dropped_ > 0) {
    ThrowFileError(path_,
                   "holds no samples: all of its " + CountText(dropped_, "row") +
                       " have gaps, and `missing: drop` leaves them out",
                   "`missing: mean` or `missing: zero` fills the gaps");
  }
  ThrowFileError(path_, layout_.names.empty() ? "is empty" : "holds no samples below its header");
}

// The first pass: which names the labels are.
void CsvOpener::SurveyRow(const CsvReader& reader) {
  for (auto& [column, label] : layout_.labels) {
    const CsvField& field = reader.fields()[column];
    if (IsGap(field, true)) continue;  // the second pass reports it
    label.Survey(
        NameIn(field), [&] { return reader.MarkOf(field); }, diagnostics_);
  }
  all_rows_ = rows_ + 1;
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
    const LabelTexts* label = LabelOf(used);
    if (label == nullptr || Failed()) continue;
    const bool alone = layout_.fields[used.field].shape.Elements() == 1;
    if (alone) parts_[used.field].classes = label->names();
  }
}

// The second pass.
void CsvOpener::StoreRow(const CsvReader& reader) {
  if (Failed() && parts_.size() < layout_.fields.size()) return;
  for (const CsvColumn& used : layout_.used) {
    const CsvField& text = reader.fields()[used.column];
    const int64_t sample = layout_.fields[used.field].bytes();
    std::byte* out = parts_[used.field].tensor.bytes().data() + rows_ * sample + used.offset;
    const LabelTexts* label = LabelOf(used);
    if (IsGap(text, label != nullptr)) {
      StoreMissing(used, reader, text, out);
    } else if (label != nullptr && label->of_names()) {
      StoreLabel(*label, used, reader, text, out);
    } else {
      const TextNumber stored = StoreNumber(text.text, DTypeOf(used), out);
      if (stored != TextNumber::kStored) ReportNumber(stored, used, reader, text);
      if (stored == TextNumber::kStored && used.field == 0) AddToMean(used, out);
    }
  }
}

void CsvOpener::StoreLabel(const LabelTexts& label, const CsvColumn& used, const CsvReader& reader,
                           const CsvField& text, std::byte* out) {
  const std::string_view name = NameIn(text);
  if (const std::optional<int32_t> found = label.Find(name)) {
    std::memcpy(out, &*found, sizeof(*found));
    return;
  }
  ReportCell(used, reader, text, ": " + label.UnknownText(name), label.HelpFor(name));
}

void CsvOpener::StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                             std::byte* out) {
  if (used.field > 0 || csv_.missing == CsvMissing::kError) {
    ReportCell(used, reader, text, " has no value here",
               used.field > 0 ? "a sample needs its label: `missing: drop` leaves such lines out"
                              : "`missing: mean`, `missing: zero` or a number fills such gaps; "
                                "`missing: drop` leaves such lines out");
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
  const std::string dtype(Name(DTypeOf(used)));
  std::string what = ": " + QuotedText(text.text) + " ", help;
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
  ReportCell(used, reader, text, what, help);
}

void CsvOpener::ReportCell(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                           const std::string& what, const std::string& help) {
  cell_errors_.Error(
      used.column, ColumnText(used), [&] { return reader.MarkOf(text); }, what, help);
}

void CsvOpener::PrepareMeans() {
  if (Failed() || !IsFloat(layout_.fields[0].dtype)) return;
  const auto columns = static_cast<size_t>(layout_.fields[0].shape.Elements());
  moments_ = ColumnMoments(columns);
  held_out_.assign(static_cast<size_t>(all_rows_), false);
  if (!options_.split) return;
  const auto [fraction, seed, test, order] = *options_.split;
  const SplitIndices split = SplitSamples(all_rows_, fraction, seed, test, order);
  for (int64_t row : split.valid) held_out_[static_cast<size_t>(row)] = true;
  for (int64_t row : split.test) held_out_[static_cast<size_t>(row)] = true;
}

void CsvOpener::AddToMean(const CsvColumn& used, const std::byte* value) {
  if (held_out_.empty() || held_out_[static_cast<size_t>(rows_)]) return;
  double number = 0.0;
  if (DTypeOf(used) == DType::kF64) {
    std::memcpy(&number, value, sizeof(number));
  } else {
    float single = 0.0F;
    std::memcpy(&single, value, sizeof(single));
    number = static_cast<double>(single);
  }
  const auto column = static_cast<size_t>(used.offset / SizeOf(DTypeOf(used)));
  moments_.Add(column, number);
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
  const std::vector<double> means = train == nullptr ? moments_.Means() : train->means();
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
     "what stands for a feature that is empty, `NA`, `NaN` or `?`: `zero`, a number, or `mean` (of "
     "the column in the training data); `drop` leaves such lines out, and those without a label; "
     "`error` is the default"},
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
