// Brackets that do not match: where the mistake is, which is not where a YAML parser gives up.
#ifndef CGRUN_MODEL_BRACKETS_H_
#define CGRUN_MODEL_BRACKETS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "src/model/source_text.h"

namespace cgrun {

struct BracketFault {
  size_t bracket = 0;  // the offset of the one that is wrong: not closed, or closing nothing
  size_t noticed = 0;  // the offset of what shows it; the text's size: its end
  std::string message;
  std::string help;
};

// The first bracket that has no partner, or one of the other kind. A bracket is taken to end where
// a line is not indented deeper than the one that opened it, unless it is closed behind that.
std::optional<BracketFault> FindBracketFault(const SourceText& text);

}  // namespace cgrun

#endif  // CGRUN_MODEL_BRACKETS_H_
