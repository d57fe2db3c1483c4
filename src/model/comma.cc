// A comma may be a point, or stand between groups of three digits.
#include "src/model/comma.h"

#include <algorithm>

#include "src/model/values.h"

namespace cgrun {
namespace {

// "1000000" of "1,000,000"; "" of what has no such groups.
std::string WithoutGroups(std::string_view text) {
  std::string whole;
  if (text.starts_with('-')) {
    whole = "-";
    text.remove_prefix(1);
  }
  const size_t first = std::min(text.find(','), text.size());
  const bool groups = first > 0 && first <= 3 && first < text.size() && text[0] != '0';
  if (!groups || (text.size() - first) % 4 != 0) return "";
  for (size_t i = 0; i < text.size(); ++i) {
    const bool comma = i >= first && (i - first) % 4 == 0;
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (comma ? text[i] != ',' : !digit) return "";
    if (!comma) whole += text[i];
  }
  return whole;
}

}  // namespace

std::string CommaNumber::Help(const std::string& key) const {
  const auto shown = [&](const std::string& number) {
    return key.empty() ? number : "`" + key + ": " + number + "`";
  };
  if (whole.empty() && fraction.empty()) return "";
  if (whole.empty()) return "write " + shown(fraction) + ", with a point";
  if (fraction.empty()) return "write " + shown(whole);
  return "write " + shown(whole) + ", or " + shown(fraction) + " for a fraction";
}

CommaNumber ReadCommas(std::string_view text) {
  CommaNumber number{WithPoint(text), WithoutGroups(text)};
  if (!ParseReal(number.fraction)) number.fraction.clear();
  return number;
}

std::string WithPoint(std::string_view text) {
  if (std::ranges::count(text, ',') != 1) return "";
  std::string pointed(text);
  pointed[pointed.find(',')] = '.';
  return pointed;
}

}  // namespace cgrun
