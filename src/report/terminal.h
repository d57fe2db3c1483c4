// Text on its way to people: all that this program prints passes here. JSON goes through JsonText()
// instead, and what files hold for other programs is theirs.
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
