// Texts that are to be UTF-8: what is wrong where they are not, and how a file becomes UTF-8.
#ifndef CGRUN_DATA_ENCODING_H_
#define CGRUN_DATA_ENCODING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cgrun {

struct EncodingFault {
  size_t at = 0;     // the first byte that is no part of a character
  std::string what;  // "is not in UTF-8: its byte 0xE9 is no part of a character"
  std::string help;
};

// Returns nothing for a text in UTF-8.
std::optional<EncodingFault> FindEncodingFault(std::string_view text);

// UserError where a file that begins with `start` is in UTF-16, with a byte order mark or without.
void RefuseUtf16(const std::string& path, std::string_view start);

}  // namespace cgrun

#endif  // CGRUN_DATA_ENCODING_H_
