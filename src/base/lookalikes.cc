// A table, and the blanks between groups of three digits.
#include "src/base/lookalikes.h"

#include <algorithm>

namespace cgrun {
namespace {

struct Lookalike {
  std::string_view character;
  std::string_view plain;
  std::string_view name;
};

constexpr Lookalike kLookalikes[] = {
    {"\u2212", "-", "U+2212, a minus sign"},
    {"\u2010", "-", "U+2010, another hyphen"},
    {"\u2011", "-", "U+2011, a non-breaking hyphen"},
    {"\u2013", "-", "U+2013, a dash"},
    {"\u2014", "-", "U+2014, a dash"},
    {"\u00a0", "", "U+00A0, a no-break space"},
    {"\u2007", "", "U+2007, a figure space"},
    {"\u2009", "", "U+2009, a thin space"},
    {"\u202f", "", "U+202F, a narrow no-break space"},
    {"\u200b", "", "U+200B, a space without width"},
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

size_t CountDigits(std::string_view text) {
  return static_cast<size_t>(std::ranges::find_if_not(text, IsDigit) - text.begin());
}

// "1234.5" of "1 234.5"; "" of what has no such groups.
std::string WithoutBlanks(std::string_view text) {
  const size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const size_t head = CountDigits(text.substr(sign));
  std::string number(text.substr(0, sign + head));
  text.remove_prefix(sign + head);
  if (head == 0 || head > 3 || !text.starts_with(' ')) return "";
  while (text.starts_with(' ')) {
    if (CountDigits(text.substr(1)) != 3) return "";
    number += text.substr(1, 3);
    text.remove_prefix(4);
  }
  return number + std::string(text);
}

}  // namespace

PlainNumber WithoutLookalikes(std::string_view text) {
  PlainNumber number{std::string(text), ""};
  for (const Lookalike& other : kLookalikes) {
    size_t at = number.text.find(other.character);
    if (at == std::string::npos) continue;
    number.note += (number.note.empty() ? "'" : "; '") + std::string(other.character) + "' is " +
                   std::string(other.name);
    for (; at != std::string::npos; at = number.text.find(other.character)) {
      number.text.replace(at, other.character.size(), other.plain);
    }
  }
  return number;
}

PlainNumber ReadPlainNumber(std::string_view text) {
  PlainNumber number = WithoutLookalikes(text);
  const std::string joined = WithoutBlanks(number.text);
  if (joined.empty()) return number;
  const std::string_view blanks = "no blank stands between the thousands of a number";
  number.note += (number.note.empty() ? "" : "; ") + std::string(blanks);
  number.text = joined;
  return number;
}

}  // namespace cgrun
