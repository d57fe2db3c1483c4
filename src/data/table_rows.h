// TableRows: the records of a CSV file, read once, so that parts of the file can be opened as
// tables of their own. A part is read as a file with these records alone would be, but errors name
// the lines of the whole file.
#ifndef CGRUN_DATA_TABLE_ROWS_H_
#define CGRUN_DATA_TABLE_ROWS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/csv_reader.h"

namespace cgrun {

class TableRows {
 public:
  // Sees each record with its fields, and its number from 0, the line of the names included.
  class Visitor {
   public:
    virtual ~Visitor() = default;
    virtual void OnRecord(int32_t record, const CsvReader& reader) = 0;
  };

  // Reads a file. An error of syntax goes to `diagnostics`, and ends the records. Throws UserError
  // where the file cannot be read, or has more than `most_bytes` bytes of text.
  TableRows(const std::string& path, CsvDelimiter delimiter, int64_t most_bytes, Visitor& visitor,
            Diagnostics& diagnostics);

  const std::string& path() const { return path_; }
  // The character that separates fields, as the file has it.
  char delimiter() const { return delimiter_; }
  int32_t size() const { return static_cast<int32_t>(records_.size()); }
  std::string_view text(int32_t record) const;
  int64_t line(int32_t record) const { return records_[static_cast<size_t>(record)].line; }
  // Host memory.
  int64_t bytes() const;

 private:
  struct Record {
    size_t end = 0;  // in text_
    int64_t line = 0;
  };

  std::string path_;
  char delimiter_ = ',';
  std::string text_;
  std::vector<Record> records_;
};

// Records of a table: `rows`, ascending, behind the line of the names where the table has one.
struct TablePart {
  const TableRows* table = nullptr;  // not null
  bool has_header = true;
  std::span<const int32_t> rows;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_TABLE_ROWS_H_
