// Guesses the encoding of a text. Nobody can know it, so that messages name the most frequent one.
#include "src/data/encoding.h"

#include <algorithm>
#include <cstdio>

#include "src/base/printable.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

std::string HelpWithEncoding(const char* encoding) {
  return std::string("save the file as UTF-8, or convert it: `iconv -f ") + encoding +
         " -t utf-8 FILE > NEW`";
}

// Returns whether each character of a text of ASCII has a byte of zero beside it, at `zero` of the
// two.
bool HasZeros(std::string_view start, size_t zero) {
  constexpr size_t kLeast = 4, kMost = 16;
  if (start.size() < kLeast) return false;
  for (size_t i = 0; i < std::min(start.size(), kMost); ++i) {
    if ((start[i] == '\0') != (i % 2 == zero)) return false;
  }
  return true;
}

}  // namespace

std::optional<EncodingFault> FindEncodingFault(std::string_view text) {
  const size_t at = FindNoUtf8(text);
  if (at == text.npos) return std::nullopt;
  const auto byte = static_cast<unsigned char>(text[at]);
  char shown[16];
  std::snprintf(shown, sizeof(shown), "0x%02X", static_cast<unsigned>(byte));
  // From 0x80 to 0x9F Windows has letters and quotes, and Latin-1 none.
  return EncodingFault{
      at, std::string("is not in UTF-8: its byte ") + shown + " is no part of a character",
      HelpWithEncoding(byte < 0xA0 ? "cp1252" : "latin1")};
}

void RefuseUtf16(const std::string& path, std::string_view start) {
  const bool marked = start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF");
  const bool little = HasZeros(start, 1), big = HasZeros(start, 0);
  if (!marked && !little && !big) return;
  ThrowFileError(path, "is in UTF-16",
                 HelpWithEncoding(marked   ? "utf-16"
                                  : little ? "utf-16le"
                                           : "utf-16be"));
}

}  // namespace cgrun
