// UTF-8 (RFC 3629), character by character.
#include "src/base/printable.h"

#include <algorithm>
#include <cstddef>

namespace cgrun {
namespace {

// Bytes of the character that a text begins with; 0 where it is none. Characters in longer forms
// than they need pass.
size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t bytes = lead < 0x80   ? 1
                       : lead < 0xC2 ? 0
                       : lead < 0xE0 ? 2
                       : lead < 0xF0 ? 3
                       : lead < 0xF5 ? 4
                                     : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return std::ranges::all_of(text.substr(1, bytes - 1), continues) ? bytes : 0;
}

// U+0080 to U+009F.
bool IsWideControl(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

}  // namespace

std::string PrintableText(std::string_view text) {
  std::string shown(text);
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const size_t bytes = IsWideControl(rest) ? 0 : CharacterBytes(rest);
    if (bytes == 0 || IsControl(text[i])) shown[i] = '?';
    i += std::max<size_t>(bytes, 1);
  }
  return shown;
}

size_t FindNoUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = CharacterBytes(text.substr(i));
    if (bytes == 0) return i;
    i += bytes;
  }
  return text.npos;
}

}  // namespace cgrun
