// A counting sort: the groups of the rows are noted as they are read.
#include "src/model_data/grouped_rows.h"

#include <algorithm>
#include <cstdlib>

#include "src/base/printable.h"
#include "src/data/cell_errors.h"
#include "src/data/csv_values.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

constexpr int32_t kNoGroup = -1;
constexpr size_t kMostStrays = 4;  // that are kept to be named
constexpr int kMostRagged = 20;

std::vector<std::string> NamesIn(const CsvReader& reader) {
  std::vector<std::string> names;
  for (const CsvField& field : reader.fields()) {
    names.emplace_back(field.quoted ? field.text : Trimmed(field.text));
  }
  return names;
}

// The place of a column in a table whose first line is `names`; nothing where it is not there, or
// stands twice.
std::optional<size_t> FindColumn(const std::string& column, const std::vector<std::string>& names,
                                 bool has_header) {
  if (has_header) {
    const auto count = std::ranges::count(names, column);
    if (count > 1) return std::nullopt;
    if (count == 1) return static_cast<size_t>(std::ranges::find(names, column) - names.begin());
  }
  const auto number = ParseInt32(column);
  const int64_t columns = std::ssize(names);
  if (!number || *number == 0 || std::abs(int64_t{*number}) > columns) return std::nullopt;
  return static_cast<size_t>(*number > 0 ? *number - 1 : columns + *number);
}

}  // namespace

GroupNames::GroupNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) Add(name);
}

std::optional<int64_t> GroupNames::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

int64_t GroupNames::Add(std::string_view name) {
  if (const auto known = Find(name)) return *known;
  by_name_.emplace(name, count());
  names_.emplace_back(name);
  return count() - 1;
}

// Notes the group of each record.
class GroupedRows::Sorter final : public TableRows::Visitor {
 public:
  Sorter(GroupedRows& rows, const CsvOptions& csv, const std::string& column, GroupNames& names,
         bool is_complete, Diagnostics& diagnostics)
      : rows_(rows),
        drops_(csv.missing == CsvMissing::kDrop),
        column_(column),
        names_(names),
        is_complete_(is_complete),
        diagnostics_(diagnostics),
        gaps_(diagnostics) {}

  void OnRecord(int32_t record, const CsvReader& reader) override {
    if (record == 0) {
      fields_ = reader.fields().size();
      place_ = FindColumn(column_, NamesIn(reader), rows_.has_header_);
      if (!place_) ReportNoColumn(reader);
    }
    const bool is_row = record > 0 || !rows_.has_header_;
    groups_.push_back(is_row && place_ ? GroupOf(reader) : kNoGroup);
  }

  // Sorts the records by their groups.
  void Finish() {
    gaps_.Report(std::ssize(groups_));
    std::vector<int64_t>& begin = rows_.begin_;
    begin.assign(static_cast<size_t>(names_.count()) + 1, 0);
    for (const int32_t group : groups_) {
      if (group != kNoGroup) ++begin[static_cast<size_t>(group) + 1];
    }
    for (size_t g = 1; g < begin.size(); ++g) begin[g] += begin[g - 1];
    rows_.rows_.resize(static_cast<size_t>(begin.back()));
    std::vector<int64_t> next = begin;
    for (size_t record = 0; record < groups_.size(); ++record) {
      if (groups_[record] == kNoGroup) continue;
      int64_t& to = next[static_cast<size_t>(groups_[record])];
      rows_.rows_[static_cast<size_t>(to++)] = static_cast<int32_t>(record);
    }
  }

 private:
  int32_t GroupOf(const CsvReader& reader) {
    if (reader.fields().size() != fields_) return ReportRagged(reader);
    const CsvField& field = reader.fields()[*place_];
    if (IsGap(field, /*is_name=*/true)) return ReportGap(reader, field);
    const std::string_view name = NameIn(field);
    if (!is_complete_) return static_cast<int32_t>(names_.Add(name));
    if (const auto group = names_.Find(name)) return static_cast<int32_t>(*group);
    ++rows_.stray_count_;
    if (rows_.strays_.size() < kMostStrays) {
      rows_.strays_.push_back({std::string(name), reader.MarkOf(field)});
    }
    return kNoGroup;
  }

  int32_t ReportGap(const CsvReader& reader, const CsvField& field) {
    if (drops_) return kNoGroup;
    gaps_.Add(*place_, "column " + QuotedText(column_), [&] { return reader.MarkOf(field); },
              {"", " has no value here", "each row names its group", "gap"});
    return kNoGroup;
  }

  int32_t ReportRagged(const CsvReader& reader) {
    if (++ragged_ > kMostRagged) return kNoGroup;
    const auto fields = static_cast<int64_t>(reader.fields().size());
    diagnostics_.Error(reader.mark(),
                       "this line has " + CountText(fields, "field") + ", but the first one has " +
                           std::to_string(fields_),
                       "a field may be empty, but the delimiters around it stay");
    return kNoGroup;
  }

  void ReportNoColumn(const CsvReader& reader) {
    std::vector<std::string> names;
    for (const std::string& name : NamesIn(reader)) names.push_back(PrintableText(name));
    diagnostics_.Error(
        reader.mark(),
        "this table has no column " + QuotedText(column_) + ", which names the group of each row",
        SuggestName(column_, names));
  }

  GroupedRows& rows_;
  const bool drops_;
  const std::string& column_;
  GroupNames& names_;
  const bool is_complete_;
  Diagnostics& diagnostics_;
  CellErrors gaps_;
  size_t fields_ = 0;  // of the first record
  int ragged_ = 0;
  std::optional<size_t> place_;  // of the column
  std::vector<int32_t> groups_;  // by record
};

GroupedRows::GroupedRows(const std::string& path, const CsvOptions& csv, const std::string& column,
                         GroupNames& names, bool is_complete, int64_t most_bytes,
                         Diagnostics& diagnostics)
    : has_header_(csv.header) {
  Sorter sorter(*this, csv, column, names, is_complete, diagnostics);
  table_ = std::make_unique<TableRows>(path, csv.delimiter, most_bytes, sorter, diagnostics);
  sorter.Finish();
}

TablePart GroupedRows::PartOf(int64_t group) const {
  const auto g = static_cast<size_t>(group);
  if (g + 1 >= begin_.size()) return {table_.get(), has_header_, {}};
  const auto from = static_cast<size_t>(begin_[g]), to = static_cast<size_t>(begin_[g + 1]);
  return {table_.get(), has_header_, std::span(rows_).subspan(from, to - from)};
}

int64_t GroupedRows::bytes() const {
  return table_->bytes() + static_cast<int64_t>(begin_.capacity() * sizeof(int64_t) +
                                                rows_.capacity() * sizeof(int32_t));
}

}  // namespace cgrun
