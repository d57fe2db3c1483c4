// UTF-8 (RFC 3629), character by character.
#include "src/base/printable.h"

#include <cstddef>

namespace cgrun {
namespace {

// U+0080 to U+009F.
bool IsWideControl(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

// U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: they show what stands around them in
// another order, which hides what a text says (https://unicode.org/reports/tr9).
bool IsBidiControl(std::string_view text) {
  if (text.starts_with("\xD8\x9C")) return true;
  if (text.size() < 3 || text[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x81') return last >= 0xA6 && last <= 0xA9;
  return text[1] == '\x80' && (last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE));
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F; }

// Bytes of the character that a text begins with, where it is shown as it is; 0 where it is not.
size_t ShownBytes(std::string_view text) {
  const bool is_control = IsWideControl(text) || IsBidiControl(text) || IsControl(text[0]);
  return is_control ? 0 : Utf8Bytes(text);
}

}  // namespace

// Longer forms of a character than it needs, surrogates and what is beyond U+10FFFF are none.
size_t Utf8Bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return byte(1) >= low && byte(1) <= high ? bytes : 0;
}

std::string PrintableText(std::string_view text) {
  std::string shown(text);
  for (size_t i = PrintableBytes(text); i < text.size(); i += PrintableBytes(text.substr(i))) {
    shown[i++] = '?';
  }
  return shown;
}

std::string PrintableLines(std::string_view text) {
  std::string shown = PrintableText(text);
  for (size_t i = text.find('\n'); i < text.size(); i = text.find('\n', i + 1)) shown[i] = '\n';
  return shown;
}

size_t PrintableBytes(std::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const size_t next = ShownBytes(text.substr(bytes));
    if (next == 0) break;
    bytes += next;
  }
  return bytes;
}

size_t FindNoUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = Utf8Bytes(text.substr(i));
    if (bytes == 0) return i;
    i += bytes;
  }
  return text.npos;
}

}  // namespace cgrun
