// Columns of which none is shown share a message.
#include "src/data/cell_errors.h"

#include <set>

namespace cgrun {

// "; and 59 more such cells: 'green' in line 3, 'blue' in line 4, …"
std::string CellErrors::OthersText(const Kind& kind) const {
  const int64_t others = kind.cells - 1;
  if (others == 0) return "";
  const char* lines = others == 1 ? ", in line " : ", in the lines ";
  return "; and " + CountText(others, "more such " + noun_) + (kind.empty ? lines : ": ") +
         kind.others + (others > kMostNamed ? ", …" : "");
}

void CellErrors::Tell(const SourceMark& mark, const std::string& message, const std::string& help) {
  if (severity_ == Severity::kError) {
    diagnostics_.Error(mark, message, help);
  } else {
    diagnostics_.Warning(mark, message, help);
  }
}

void CellErrors::Report(int64_t rows) {
  constexpr int64_t kRare = 4;  // at most one row in so many
  int shown = 0;
  int64_t hidden = 0;
  std::set<size_t> hidden_columns;
  const SourceMark* first_hidden = nullptr;
  for (const auto& [key, kind] : kinds_) {
    if (shown < kMostShown) {
      ++shown;
      const bool rare = !kind.rare_help.empty() && kind.cells <= rows / kRare;
      Tell(kind.mark, kind.message + OthersText(kind), rare ? kind.rare_help : kind.help);
      continue;
    }
    hidden += kind.cells;
    hidden_columns.insert(key.first);
    if (first_hidden == nullptr) first_hidden = &kind.mark;
  }
  if (first_hidden == nullptr) return;
  Tell(*first_hidden,
       "and " + CountText(hidden, "more such " + noun_) + " in " +
           CountText(std::ssize(hidden_columns), "other column"),
       "");
}

}  // namespace cgrun
