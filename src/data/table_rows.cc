#include "src/data/table_rows.h"

#include <climits>

#include "src/data/options.h"
#include "src/io/file_error.h"

namespace cgrun {

TableRows::TableRows(const std::string& path, CsvDelimiter delimiter, int64_t most_bytes,
                     Visitor& visitor, Diagnostics& diagnostics)
    : path_(path) {
  CsvReader reader(path, delimiter, diagnostics);
  while (reader.Next()) {
    text_ += reader.record();
    records_.push_back({text_.size(), reader.line()});
    if (bytes() > most_bytes || records_.size() == INT_MAX) {
      ThrowFileError(path, "has more rows than the " + MemoryText(most_bytes) + " that are left",
                     "`group_by` holds the text of the table in memory: use fewer rows");
    }
    visitor.OnRecord(size() - 1, reader);
  }
  delimiter_ = reader.delimiter();
  text_.shrink_to_fit();
  records_.shrink_to_fit();
}

std::string_view TableRows::text(int32_t record) const {
  const auto at = static_cast<size_t>(record);
  const size_t begin = at == 0 ? 0 : records_[at - 1].end;
  return std::string_view(text_).substr(begin, records_[at].end - begin);
}

int64_t TableRows::bytes() const {
  return static_cast<int64_t>(text_.capacity() + records_.capacity() * sizeof(Record));
}

}  // namespace cgrun
