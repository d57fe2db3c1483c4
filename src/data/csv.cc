// Reads tables of numbers as comma-separated text. Some columns are the features of a sample,
// others are categories, and others its labels. The file is read twice. The first pass counts rows
// and classes, which says how much memory is needed, and the last one takes the values. If
// categories are to be found, there is a pass between them. CsvOpener is the entry point.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "src/base/printable.h"
#include "src/data/cell_errors.h"
#include "src/data/classes.h"
#include "src/data/csv_cell_help.h"
#include "src/data/csv_dataset.h"
#include "src/data/csv_features.h"
#include "src/data/csv_layout.h"
#include "src/data/csv_options.h"
#include "src/data/csv_reader.h"
#include "src/data/csv_values.h"
#include "src/data/dataset.h"
#include "src/data/encoding.h"
#include "src/data/gap_census.h"
#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/data/tensor_dataset.h"
#include "src/data/text_number.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr int kMostErrors = 20;  // beside those of cells, which are counted by column

class CsvOpener {
 public:
  CsvOpener(const DataOptions& options, Diagnostics& diagnostics)
      : options_(options),
        diagnostics_(diagnostics),
        errors_before_(diagnostics.error_count()),
        cell_errors_(diagnostics),
        unknown_(diagnostics, Severity::kWarning),
        file_option_(*FindOption(options, "file")),
        path_(ResolvePath(options, file_option_)),
        features_(options, diagnostics),
        room_(options) {}

  // Returns null after an error.
  std::unique_ptr<Dataset> Open() {
    const std::optional<CsvOptions> csv = ReadCsvOptions(options_, diagnostics_);
    if (!csv) return nullptr;
    csv_ = *csv;
    ForEachRow([this](const CsvReader& reader) { SurveyRow(reader); });
    for (auto& [column, label] : layout_.labels) {
      if (!Stopped()) label.Settle(diagnostics_);
    }
    if (!Stopped()) FindCategories();
    if (Stopped() || all_rows_ == 0) {
      cell_errors_.Report(all_rows_);
      return nullptr;
    }
    Allocate();
    if (!Stopped()) features_.Prepare(layout_, all_rows_);
    ForEachRow([this](const CsvReader& reader) { StoreRow(reader); });
    cell_errors_.Report(all_rows_);
    if (!Failed()) features_.Finish(csv_, layout_, path_, parts_[0].store.Writable());
    if (Failed()) return nullptr;
    unknown_.Report(all_rows_);
    if (options_.to_predict) WarnOfEmptyLines(path_, empty_lines_, first_empty_line_, diagnostics_);
    std::vector<std::string> notes;
    if (!preamble_note_.empty()) notes.push_back(preamble_note_);
    std::ranges::move(gaps_.Texts(path_, csv_, all_rows_), std::back_inserter(notes));
    std::ranges::move(room_.notes(), std::back_inserter(notes));
    return std::make_unique<CsvDataset>(std::move(parts_), features_.Findings(csv_, layout_),
                                        std::move(integers_), std::move(notes),
                                        HeldOutBytes(options_.split, all_rows_));
  }

 private:
  bool Failed() const { return diagnostics_.error_count() > errors_before_; }
  // Returns whether there are errors other than ragged lines. Ragged lines are passed over, so that
  // one run also reports the cells of other lines.
  bool Stopped() const { return diagnostics_.error_count() - errors_before_ > ragged_; }

  template <class Act>
  void ForEachRow(Act act);
  CsvReader OpenReader() const {
    return options_.part != nullptr ? CsvReader(*options_.part, diagnostics_)
                                    : CsvReader(path_, csv_.delimiter, diagnostics_);
  }

  bool ReadLayout(const CsvReader& reader) {
    std::optional<CsvLayout> layout = ReadCsvLayout(csv_, options_, reader, diagnostics_);
    if (!layout) return false;
    layout_ = *std::move(layout);
    FindIntegers();
    return true;
  }
  void SurveyRow(const CsvReader& reader);
  void CheckEncoding(const CsvReader& reader);
  void CheckEncodingOf(const CsvColumn& used, const CsvReader& reader);
  void CheckGroup(const CsvReader& reader);
  void ReportRagged(const CsvReader& reader);
  bool IsDropped(const CsvReader& reader);
  void ReportNoRows();
  void CheckRoom() const;
  void FindIntegers();
  void Allocate();
  void StoreRow(const CsvReader& reader);
  void StoreLabel(const LabelTexts& label, const CsvColumn& used, const CsvReader& reader,
                  const CsvField& text, std::byte* out);
  void StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                    std::byte* out);
  void ReportNumber(TextNumber error, const CsvColumn& used, const CsvReader& reader,
                    const CsvField& text);
  void ReportCell(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                  const std::string& what, const std::string& help, const std::string& kind);
  void StoreCategory(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                     std::byte* out);
  void StoreId(const CsvColumn& used, int32_t id, std::byte* out);
  void FindCategories();

  // The label of a column whose texts may be names; null for others.
  const LabelTexts* LabelOf(const CsvColumn& used) const {
    const auto label = layout_.labels.find(used.column);
    const bool is_label = used.role == CsvRole::kLabel && label != layout_.labels.end();
    return is_label ? &label->second : nullptr;
  }
  bool IsName(const CsvColumn& used) const {
    return used.role == CsvRole::kCategory || LabelOf(used) != nullptr;
  }
  // "column 'age'", "label 'price'".
  std::string ColumnText(const CsvColumn& used) const {
    return (used.role != CsvRole::kLabel ? "column " : "label ") + layout_.Quoted(used.column);
  }
  DType DTypeOf(const CsvColumn& used) const { return layout_.fields[used.field].dtype; }

  const DataOptions& options_;
  Diagnostics& diagnostics_;
  const int errors_before_;
  int ragged_ = 0;  // lines with another number of fields, each an error
  CellErrors cell_errors_;
  CellErrors unknown_;  // categories, in samples to predict
  std::set<size_t> unknown_columns_;
  const DataOption& file_option_;
  const std::string path_;
  CsvFeatures features_;

  CsvOptions csv_;
  CsvLayout layout_;
  CellHelp help_{path_, csv_, layout_, options_};
  int64_t rows_ = 0;  // of this pass
  int64_t all_rows_ = 0;
  int64_t empty_lines_ = 0;  // before the last row
  int first_empty_line_ = 0;
  std::string preamble_note_;  // CsvReader::PreambleNote()
  GapCensus gaps_;             // of this pass
  SampleRoom room_;
  std::vector<FieldSamples> parts_;
  IntegerLines integers_;
};

// Calls `act` for each row with as many fields as there are columns.
template <class Act>
void CsvOpener::ForEachRow(Act act) {
  const bool first_pass = layout_.names.empty();
  rows_ = 0;
  gaps_.Restart();
  try {
    CsvReader reader = OpenReader();
    for (bool first = true; reader.Next(); first = false) {
      if (diagnostics_.error_count() - errors_before_ >= kMostErrors) {
        diagnostics_.Error(BehindAllLines(path_), "further errors of this file are not shown");
        return;
      }
      if (first) preamble_note_ = reader.PreambleNote();
      if (first && first_pass && !ReadLayout(reader)) return;
      if (first && csv_.header) continue;
      if (reader.fields().size() != layout_.names.size()) {
        if (first_pass) ReportRagged(reader);
        continue;
      }
      if (IsDropped(reader)) continue;
      if (!first_pass && rows_ == all_rows_) ThrowFileError(path_, "changed while it was read");
      act(reader);
      ++rows_;
      empty_lines_ = reader.empty_lines();
      first_empty_line_ = reader.first_empty_line();
    }
    if (!first_pass && rows_ != all_rows_ && !Failed()) {
      ThrowFileError(path_, "changed while it was read");
    }
    if (rows_ == 0 && !Failed()) ReportNoRows();
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
}

void CsvOpener::ReportRagged(const CsvReader& reader) {
  ++ragged_;
  const size_t fields = reader.fields().size(), columns = layout_.names.size();
  diagnostics_.Error(reader.mark(),
                     "this line has " + CountText(static_cast<int64_t>(fields), "field") +
                         ", but the first one has " + std::to_string(columns),
                     fields < columns ? "a field may be empty, but the delimiters around it stay"
                                      : "a field with a delimiter in it stands in quotes");
}

// A row with a gap, where such rows are left out.
bool CsvOpener::IsDropped(const CsvReader& reader) {
  const bool all = csv_.missing == CsvMissing::kDrop;
  if (!all && !csv_.drop_unlabelled) return false;
  const bool lacks_group = all && layout_.group && IsGap(reader.fields()[*layout_.group], true);
  const bool gap = lacks_group || std::ranges::any_of(layout_.used, [&](const CsvColumn& used) {
                     if (!all && used.role != CsvRole::kLabel) return false;
                     return IsGap(reader.fields()[used.column], IsName(used));
                   });
  if (gap) gaps_.Drop(reader.line());
  return gap;
}

void CsvOpener::ReportNoRows() {
  const int64_t dropped = gaps_.dropped();
  if (dropped > 0 && csv_.missing != CsvMissing::kDrop) {
    ThrowFileError(path_,
                   "holds no samples with a label: `missing_label: drop` leaves out all of its " +
                       CountText(dropped, "row"));
  }
  if (dropped > 0) {
    ThrowFileError(path_,
                   "holds no samples: all of its " + CountText(dropped, "row") +
                       " have gaps, and `missing: drop` leaves them out",
                   "`missing: mean` or `missing: zero` fills the gaps");
  }
  ThrowFileError(path_, layout_.names.empty() ? "is empty" : "holds no samples below its header");
}

// Names are compared byte by byte: those of another encoding would be others, and shown as none.
void CsvOpener::CheckEncoding(const CsvReader& reader) {
  for (const CsvColumn& used : layout_.used) {
    if (IsName(used)) CheckEncodingOf(used, reader);
  }
}

void CsvOpener::CheckEncodingOf(const CsvColumn& used, const CsvReader& reader) {
  const CsvField& text = reader.fields()[used.column];
  const std::optional<EncodingFault> fault = FindEncodingFault(text.text);
  if (!fault) return;
  const std::string what = ": " + QuotedText(NameIn(text)) + " " + fault->what;
  ReportCell(used, reader, text, what, fault->help, "encoding");
}

// Each row names its group, which files of a run write as UTF-8.
void CsvOpener::CheckGroup(const CsvReader& reader) {
  if (!layout_.group) return;
  const CsvColumn group = {CsvRole::kCategory, *layout_.group, 0, 0};
  CheckEncodingOf(group, reader);
  if (!IsGap(reader.fields()[group.column], true)) return;
  ReportCell(group, reader, reader.fields()[group.column], " has no value here",
             options_.to_predict ? "each row names its group, whose model predicts it"
                                 : "each row names its group: write one; `missing: drop` leaves "
                                   "such lines out",
             "no group");
}

// The first pass: which names the labels are.
void CsvOpener::SurveyRow(const CsvReader& reader) {
  CheckEncoding(reader);
  CheckGroup(reader);
  for (auto& [column, label] : layout_.labels) {
    const CsvField& field = reader.fields()[column];
    if (IsGap(field, true)) continue;  // the second pass reports it
    label.Survey(
        NameIn(field), [&] { return reader.MarkOf(field); }, diagnostics_);
  }
  all_rows_ = rows_ + 1;
  CheckRoom();
}

// A compressed table need not be read to its end to know that it is too much.
void CsvOpener::CheckRoom() const {
  int64_t row = integers_.any() ? IntegerLines::Bytes(1) : 0;
  for (const DataField& field : layout_.fields) row += field.bytes();
  if (row == 0 || all_rows_ <= room_.most() / row) return;
  const MemoryLeft left = MemoryLeft::Of(options_);
  ThrowFileError(path_,
                 "has more than " + CountText(all_rows_ - 1, "row") + " of " + MemoryText(row) +
                     ", which fill " + left.Text(),
                 left.Help("use fewer samples or columns"));
}

// Finds the columns of integers, whose lines are noted.
void CsvOpener::FindIntegers() {
  integers_.delimiter = csv_.delimiter;
  for (const CsvColumn& used : layout_.used) {
    if (!IsFloat(DTypeOf(used))) integers_.columns[used.field].push_back(used.column);
  }
}

// The survey has seen that all of them fit, in memory or in files.
void CsvOpener::Allocate() {
  try {
    for (const DataField& field : layout_.fields) {
      const std::string what =
          ": '" + field.name + "' of " + CountText(all_rows_, "row") + " takes";
      parts_.push_back({field,
                        room_.Take(path_, what, all_rows_ * field.bytes()),
                        path_,
                        file_option_.mark,
                        {}});
    }
    if (integers_.any()) {
      integers_.lines =
          room_.Take(path_, ": the numbers of its lines take", IntegerLines::Bytes(all_rows_));
    }
  } catch (const UserError& error) {
    diagnostics_.Error(file_option_.mark, error.what(), error.help());
  }
  for (const CsvColumn& used : layout_.used) {
    const LabelTexts* label = LabelOf(used);
    if (label == nullptr || Stopped()) continue;
    const bool alone = layout_.fields[used.field].shape.Elements() == 1;
    if (alone) parts_[used.field].classes = label->names();
  }
}

// The second pass.
void CsvOpener::StoreRow(const CsvReader& reader) {
  const bool lacks_lines = integers_.any() && !integers_.lines.needs_writing();
  if (parts_.size() < layout_.fields.size() || lacks_lines) return;  // there was no room
  if (integers_.any()) {
    const int32_t line = reader.line();
    std::memcpy(integers_.lines.Writable().data() + IntegerLines::Bytes(rows_), &line,
                sizeof(line));
  }
  for (const CsvColumn& used : layout_.used) {
    const CsvField& text = reader.fields()[used.column];
    const int64_t sample = layout_.fields[used.field].bytes();
    std::byte* out = parts_[used.field].store.Writable().data() + rows_ * sample + used.offset;
    const LabelTexts* label = LabelOf(used);
    if (IsGap(text, IsName(used))) {
      StoreMissing(used, reader, text, out);
    } else if (used.role == CsvRole::kCategory) {
      StoreCategory(used, reader, text, out);
    } else if (label != nullptr && label->of_names()) {
      StoreLabel(*label, used, reader, text, out);
    } else {
      const TextNumber stored = StoreNumber(text.text, DTypeOf(used), out);
      if (stored != TextNumber::kStored) ReportNumber(stored, used, reader, text);
      if (stored == TextNumber::kStored) features_.Add(rows_, used, out);
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
  if (FindNoUtf8(name) != name.npos) return;  // that is told
  ReportCell(used, reader, text, ": " + label.UnknownText(name), label.HelpFor(name), "class");
}

void CsvOpener::StoreCategory(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                              std::byte* out) {
  const std::string_view name = NameIn(text);
  const int32_t id = layout_.categories.at(used.column).Find(name);
  if (id == Categories::kUnknown && options_.to_predict) {
    const std::string quoted = QuotedText(name);
    const bool first = unknown_columns_.insert(used.column).second;  // its help is shown
    const std::string near =
        first ? NearestName(name, layout_.categories.at(used.column).names()) : "";
    unknown_.Add(used.column, ColumnText(used), [&] { return reader.MarkOf(text); },
                 {quoted,
                  ": " + quoted +
                      " is none of the categories of the training data: it is read as unknown, " +
                      "with the id " + std::to_string(id),
                  near.empty() ? "" : "did you mean " + QuotedText(near) + "?", ""});
  }
  StoreId(used, id, out);
}

void CsvOpener::StoreId(const CsvColumn& used, int32_t id, std::byte* out) {
  if (DTypeOf(used) == DType::kI64) {
    const int64_t wide = id;
    std::memcpy(out, &wide, sizeof(wide));
  } else {
    std::memcpy(out, &id, sizeof(id));
  }
}

void CsvOpener::StoreMissing(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                             std::byte* out) {
  if (used.role == CsvRole::kLabel || csv_.missing == CsvMissing::kError) {
    ReportCell(used, reader, text, " has no value here", help_.OfGap(used), "gap");
    return;
  }
  if (used.role == CsvRole::kCategory) {
    gaps_.FillCategory();
    return StoreId(used, Categories::kUnknown, out);
  }
  gaps_.FillFeature();
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
  const bool first = rows_ == 0 && !csv_.header;
  const CellMistake mistake = help_.OfNumber(error, used, text.text, first);
  const bool of_names = mistake.kind == CellHelp::kNames;  // these share a message
  cell_errors_.Add(
      of_names ? layout_.used[0].column : used.column, ColumnText(used),
      [&] { return reader.MarkOf(text); }, mistake);
}

void CsvOpener::ReportCell(const CsvColumn& used, const CsvReader& reader, const CsvField& text,
                           const std::string& what, const std::string& help,
                           const std::string& kind) {
  const bool gap = IsGap(text, IsName(used));
  cell_errors_.Add(used.column, ColumnText(used), [&] { return reader.MarkOf(text); },
                   {gap ? "" : QuotedText(NameIn(text)), what, help, kind});
}

// Finds the categories of training data that no list gives.
void CsvOpener::FindCategories() {
  const bool survey =
      std::ranges::any_of(layout_.categories, [](const auto& it) { return it.second.surveys(); });
  if (survey && options_.train != nullptr) {
    diagnostics_.Error(file_option_.mark,
                       "the categories are those of the training data, which are not csv",
                       "an option that is called as the input lists them");
  } else if (survey) {
    const std::vector<bool> held_out = HeldOut(options_.split, all_rows_);
    ForEachRow([&](const CsvReader& reader) {
      if (held_out[static_cast<size_t>(rows_)]) return;
      for (auto& [column, categories] : layout_.categories) {
        const CsvField& field = reader.fields()[column];
        if (!categories.surveys() || IsGap(field, true)) continue;
        if (categories.Survey(NameIn(field))) continue;
        diagnostics_.Error(reader.MarkOf(field),
                           "column " + layout_.Quoted(column) + " has more than " +
                               std::to_string(Categories::kMost) + " categories",
                           "is it a number, or one of each row's own? A column that is not listed "
                           "in `categories` is read as numbers; `columns` leaves others out");
        categories.Settle();
      }
    });
  }
  for (auto& [column, categories] : layout_.categories) categories.Settle();
}

std::unique_ptr<Dataset> OpenCsv(const DataOptions& options, Diagnostics& diagnostics) {
  if (!CheckCategoryLists(options, diagnostics)) return nullptr;
  return CsvOpener(options, diagnostics).Open();
}

}  // namespace

extern const DataFormat kCsvFormat;
constinit const DataFormat kCsvFormat = {
    .name = "csv",
    .doc =
        "tables as comma-separated text; the fields are 'features', of all their columns, and "
        "'label', or of several labels one for each, called as its column",
    .options = kCsvOptions,
    .open = OpenCsv,
    .field_option_doc =
        "the categories of the column that feeds it, where it is one of "
        "`categories`: the first is 1. Default: those of the training data, sorted",
    .field_option_list = true,
    .field_option_of = "categories",
    .label_option = "label",
    .label_help = "`label: COLUMN` in `data.train` says which column is the label"};

}  // namespace cgrun
