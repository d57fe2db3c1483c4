// GroupedRows sorts the rows of a table by the value of one of its columns, `data.group_by` of a
// model file.
#ifndef CGRUN_MODEL_DATA_GROUPED_ROWS_H_
#define CGRUN_MODEL_DATA_GROUPED_ROWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/csv_options.h"
#include "src/data/table_rows.h"

namespace cgrun {

// The groups, in the order in which the training table has them first.
class GroupNames {
 public:
  GroupNames() = default;
  explicit GroupNames(const std::vector<std::string>& names);

  int64_t count() const { return std::ssize(names_); }
  const std::string& operator[](int64_t group) const { return names_[static_cast<size_t>(group)]; }
  const std::vector<std::string>& all() const { return names_; }
  std::optional<int64_t> Find(std::string_view name) const;
  int64_t Add(std::string_view name);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> by_name_;
};

// A row that belongs to none of the groups.
struct StrayRow {
  std::string name;  // of its group
  SourceMark mark;
};

class GroupedRows {
 public:
  // Reads the file `path` and sorts its rows by `column`, a name or a number as options have it.
  // Unless `names` is complete, new groups are added to it. Errors go to `diagnostics`: a column
  // that is not there, a line with another number of fields, a row without a group where
  // `csv.missing` does not drop it. Throws UserError where the file cannot be read or has more than
  // `most_bytes` of text.
  GroupedRows(const std::string& path, const CsvOptions& csv, const std::string& column,
              GroupNames& names, bool is_complete, int64_t most_bytes, Diagnostics& diagnostics);

  const TableRows& table() const { return *table_; }
  bool has_header() const { return has_header_; }
  // The rows of a group, perhaps none. Valid while this lives.
  TablePart PartOf(int64_t group) const;
  int64_t RowsOf(int64_t group) const { return std::ssize(PartOf(group).rows); }
  int64_t rows() const { return std::ssize(rows_); }  // of all groups
  // How many rows belong to no group, and the first of them.
  int64_t stray_count() const { return stray_count_; }
  const std::vector<StrayRow>& strays() const { return strays_; }
  // Host memory.
  int64_t bytes() const;

 private:
  class Sorter;

  bool has_header_;
  std::unique_ptr<TableRows> table_;
  std::vector<int64_t> begin_;  // in rows_, of each group and of the end
  std::vector<int32_t> rows_;   // of the table: group by group, ascending in each
  int64_t stray_count_ = 0;
  std::vector<StrayRow> strays_;
};

}  // namespace cgrun

#endif  // CGRUN_MODEL_DATA_GROUPED_ROWS_H_
