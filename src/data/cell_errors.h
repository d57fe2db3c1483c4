// Errors of a table's cells: the first few of each column are shown, and the others are counted.
#ifndef CGRUN_DATA_CELL_ERRORS_H_
#define CGRUN_DATA_CELL_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {

class CellErrors {
 public:
  explicit CellErrors(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  // Takes an error of column `column`, which messages call `name`: "column 'age'". `mark_of()` says
  // where it stands, and is called for few of them.
  template <class MarkOf>
  void Error(size_t column, const std::string& name, MarkOf mark_of, const std::string& what,
             const std::string& help) {
    Column& of = columns_[column];
    if (++of.errors <= kMostInColumn && shown_ < kMostShown) {
      ++shown_;
      ++of.shown;
      diagnostics_.Error(mark_of(), name + what, help);
    } else if (of.errors == of.shown + 1) {
      of.next = mark_of();
      of.name = name;
    }
  }

  // How many were shown so far.
  int shown() const { return shown_; }

  // At the end of the file: how many more there are.
  void ReportRest();

 private:
  static constexpr int64_t kMostInColumn = 3;
  static constexpr int kMostShown = 20;

  struct Column {
    int64_t errors = 0, shown = 0;
    SourceMark next;  // the first that is not shown
    std::string name;
  };

  Diagnostics& diagnostics_;
  std::map<size_t, Column> columns_;
  int shown_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CELL_ERRORS_H_
