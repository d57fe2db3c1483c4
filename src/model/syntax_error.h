// Explains syntax errors of the YAML parser in the words of this program.
#ifndef CGRUN_MODEL_SYNTAX_ERROR_H_
#define CGRUN_MODEL_SYNTAX_ERROR_H_

#include <cstddef>
#include <string>

#include "src/base/diagnostics.h"
#include "src/model/source_text.h"

namespace cgrun {

struct SyntaxError {
  std::string message;                       // yaml-cpp's
  size_t offset = 0;                         // in bytes, of where it stopped
  const SourceMark* open_bracket = nullptr;  // the innermost, or null; the parser's own
};

// Explains the error, where the indentation tells more than the parser saw by that.
void ReportSyntaxError(const SyntaxError& error, const SourceText& text, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_SYNTAX_ERROR_H_
