// A label is cut off at a tab.
#include "src/data/line_parts.h"

#include "src/data/text_number.h"

namespace cgrun {

bool IsSampleLine(std::string_view line, const LinesOptions& lines) {
  const bool blanks_count = lines.kind == TokenKind::kBytes && !lines.labelled();
  return blanks_count || line.find_first_not_of(kBlanks) != line.npos;
}

std::optional<LineParts> CutLine(std::string_view line, const LinesOptions& lines) {
  if (!lines.labelled()) return LineParts{{}, line};
  const bool first = lines.label == LabelPlace::kFirst;
  const size_t tab = first ? line.find('\t') : line.rfind('\t');
  if (tab == line.npos) return std::nullopt;
  const std::string_view before = line.substr(0, tab), behind = line.substr(tab + 1);
  const std::string_view label = Trimmed(first ? before : behind);
  if (label.empty()) return std::nullopt;
  return LineParts{label, first ? behind : before};
}

}  // namespace cgrun
