// The rest of a column's errors stands where its next one would. Columns of which none is shown
// share a message.
#include "src/data/cell_errors.h"

namespace cgrun {

void CellErrors::ReportRest() {
  int64_t hidden = 0, hidden_columns = 0;
  const SourceMark* first_hidden = nullptr;
  for (const auto& [index, column] : columns_) {
    const int64_t rest = column.errors - column.shown;
    if (rest > 0 && column.shown > 0) {
      diagnostics_.Error(column.next, "and " + std::to_string(rest) + " more in " + column.name);
    } else if (rest > 0) {
      hidden += rest;
      ++hidden_columns;
      if (first_hidden == nullptr) first_hidden = &column.next;
    }
  }
  if (first_hidden == nullptr) return;
  diagnostics_.Error(*first_hidden, "and " + std::to_string(hidden) + " more in " +
                                        CountText(hidden_columns, "other column"));
}

}  // namespace cgrun
