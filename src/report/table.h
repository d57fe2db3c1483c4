// Aligned text tables, and numbers as people read them.
#ifndef CGRUN_REPORT_TABLE_H_
#define CGRUN_REPORT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/written_bytes.h"  // IWYU pragma: export

namespace cgrun {

enum class Align { kLeft, kRight };

// Lays out columns as wide as their widest cell (in characters of UTF-8), two spaces apart.
class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // A row has at most as many cells as the table columns.
  void Add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Adds a line of dashes under the rows so far.
  void AddRule() { rules_.push_back(rows_.size()); }
  // Cells of the last column that go beyond `width` characters (0: none do) go on below.
  std::string ToString(const std::string& indent = "", size_t width = 0) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<size_t> rules_;  // a rule stands before these rows
};

// Words of `text` in lines of at most `width` characters, each behind `indent`; all but the last
// end with a line feed. A longer word stands alone.
std::string WrapText(std::string_view text, const std::string& indent, size_t width);

// "1,234,567".
std::string FormatCount(int64_t count);
// "1 sample", "1,065 samples".
std::string FormatCount(int64_t count, std::string_view noun);
// "850", "12.3 k", "4.56 M", "7.89 G": three significant digits. The second one does not allocate;
// 16 bytes are room enough.
std::string FormatSi(double number);
void FormatSi(double number, char* text, size_t size);
// Formats the numbers of one column, whose points stand below each other. If all are whole, they
// have no decimals. Else all have as many decimals as give the largest six significant digits. They
// have more, up to six, if a number that is not 0 would look like it. If the largest is 1e15 or
// more or below 1e-4, or if six do not suffice, all look like "1.23457e-05".
std::vector<std::string> FormatAlike(const std::vector<double>& numbers);
// "3.2 % longer", "0.4 % shorter" of a time that is longer by a part of itself, 0.032 or -0.004.
std::string LongerText(double part);
// "0.12 s", "12.3 s", "2 min 05 s", "1 h 02 min".
std::string FormatSeconds(double seconds);

}  // namespace cgrun

#endif  // CGRUN_REPORT_TABLE_H_
