// Quotes of the POSIX shell: nothing between single quotes has a meaning of its own. In $'…', which
// POSIX has since 2024, \377 is a byte.
#include "src/base/shell_word.h"

#include <algorithm>

#include "src/base/printable.h"

namespace cgrun {
namespace {

bool IsPlain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view("_./=,:@%+-").find(c) != std::string_view::npos;
}

// Messages show a '?' for a byte that PrintableText() replaces, so the word names it instead.
std::string WithEscapes(std::string_view text) {
  std::string word = "$'";
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t shown = PrintableBytes(text.substr(i));
    for (const char c : text.substr(i, shown)) {
      if (c == '\'' || c == '\\') word += '\\';
      word += c;
    }
    i += shown;
    if (i == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    word += '\\';
    for (int shift = 6; shift >= 0; shift -= 3)
      word += static_cast<char>('0' + (byte >> shift & 7));
  }
  return word + "'";
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (PrintableBytes(text) < text.size()) return WithEscapes(text);
  if (!text.empty() && std::ranges::all_of(text, IsPlain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace cgrun
