// Texts of users in messages: whatever their bytes are, a terminal shows them.
#ifndef CGRUN_BASE_PRINTABLE_H_
#define CGRUN_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace cgrun {

// The text with a '?' for each byte that is a control character, but for tabs, or no part of UTF-8:
// of the same length.
std::string PrintableText(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_BASE_PRINTABLE_H_
