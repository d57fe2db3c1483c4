// Text on its way to people: results, progress and notes pass here. Diagnostics::ToString() cleans
// errors and warnings, and JsonText() JSON, with the same rule. The program's own help needs no
// cleaning, and PrintData() gives bytes to other programs as they are.
#ifndef CGRUN_REPORT_TERMINAL_H_
#define CGRUN_REPORT_TERMINAL_H_

#include <cstdio>
#include <string_view>

namespace cgrun {

// Writes the text with a '?' for each byte that PrintableText() replaces; line ends stay. Names
// that files bring can so neither colour nor steer a terminal, nor break the encoding of a log.
// Never allocates.
void PrintText(std::FILE* out, std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_REPORT_TERMINAL_H_
