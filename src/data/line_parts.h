// Decides which lines of a text are samples, and cuts a line into its parts.
#ifndef CGRUN_DATA_LINE_PARTS_H_
#define CGRUN_DATA_LINE_PARTS_H_

#include <optional>
#include <string_view>

#include "src/data/lines_options.h"

namespace cgrun {

// A line cut in two; `label` is null where there is none.
struct LineParts {
  std::string_view label;
  std::string_view text;
};

// Returns whether a line, which is not empty, is a sample: blanks alone are none, unless they are
// tokens.
bool IsSampleLine(std::string_view line, const LinesOptions& lines);

// Returns nothing where a line has no tab, or no label, and is to have one.
std::optional<LineParts> CutLine(std::string_view line, const LinesOptions& lines);

}  // namespace cgrun

#endif  // CGRUN_DATA_LINE_PARTS_H_
