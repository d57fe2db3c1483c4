// Prepares what users write for messages. A terminal can show these texts whatever their bytes are.
// Paths get their shortest form.
#ifndef CGRUN_BASE_PRINTABLE_H_
#define CGRUN_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cgrun {

// The text with a '?' for each byte that is a control character, but for tabs, or no part of UTF-8:
// of the same length.
std::string PrintableText(std::string_view text);

// The same of a text of several lines, whose ends stay.
std::string PrintableLines(std::string_view text);

// Returns the number of bytes before the first one that PrintableText() replaces. Never allocates.
size_t PrintableBytes(std::string_view text);

// Bytes of the character of UTF-8 that a text, which is not empty, begins with; 0 where it is none.
size_t Utf8Bytes(std::string_view text);

// Returns the place of the first byte that is no part of a character of UTF-8; npos where there is
// none.
size_t FindNoUtf8(std::string_view text);

// `path`, where relative ones start at `folder` ("": the working directory), in its shortest form,
// in which it is opened and shown: "pics/train" of "bad" and "../pics/train". A ".." stays only
// behind a link, where what is before it cannot be left out. "" for no path.
std::string PathFrom(std::string_view folder, std::string_view path);

}  // namespace cgrun

#endif  // CGRUN_BASE_PRINTABLE_H_
