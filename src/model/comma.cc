// A comma may be a point, or stand between groups of three digits, or in a tuple.
#include "src/model/comma.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/lookalikes.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

constexpr size_t kLongestList =
    1000;  // bytes: longer ones, read anew for each number, are no lists

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

// The numbers of "(3, 48, 48)"; none where it is no tuple.
std::vector<std::string> NumbersOfTuple(std::string_view text) {
  std::vector<std::string> numbers;
  const bool commas = text.find(',') != std::string_view::npos;
  if (!commas || !text.starts_with('(') || !text.ends_with(')')) return numbers;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view number = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (number.starts_with(' ')) number.remove_prefix(1);
    while (number.ends_with(' ')) number.remove_suffix(1);
    if (number.empty() && text.empty()) break;  // "(3,)"
    if (!ParseReal(number)) return {};
    numbers.emplace_back(number);
  }
  return numbers;
}

// "28, 28"
bool IsListOfNumbers(std::string_view text) {
  return !NumbersOfTuple("(" + std::string(text) + ")").empty();
}

}  // namespace

bool ExtendTuple(TreeEntry& before, const std::string& key, const SourceMark& key_mark) {
  TreeNode& tuple = before.value;
  const bool open = tuple.IsScalar() && !tuple.quoted && tuple.scalar.starts_with('(') &&
                    !tuple.scalar.ends_with(')');
  if (!open || tuple.mark.line != key_mark.line || tuple.scalar.size() > kLongestList) return false;
  const std::string longer = tuple.scalar + ", " + key;
  if (NumbersOfTuple(longer + (longer.ends_with(')') ? "" : ")")).empty()) return false;
  tuple.scalar = longer;
  tuple.mark.length = key_mark.column + key_mark.length - tuple.mark.column;
  return true;
}

bool MendTuple(TreeEntry& entry, Diagnostics& diagnostics) {
  const TreeNode& value = entry.value;
  const std::vector<std::string> numbers =
      NumbersOfTuple(value.IsScalar() && !value.quoted ? value.scalar : "");
  if (numbers.empty()) return false;
  std::vector<TreeNode> items;
  for (const std::string& number : numbers) items.push_back(TreeNode::Scalar(number, value.mark));
  diagnostics.Error(value.mark, "a list is written with brackets",
                    fmt::format("write `{}: [{}]`", entry.key, fmt::join(numbers, ", ")));
  TreeNode sequence = TreeNode::Sequence(std::move(items), value.mark);
  entry.value = std::move(sequence);
  return true;
}

std::string CommaNumber::Help(const std::string& key) const {
  const auto shown = [&](const std::string& number) {
    return key.empty() ? number : "`" + key + ": " + number + "`";
  };
  if (whole.empty() && fraction.empty()) return "";
  if (whole.empty()) return "write " + shown(fraction) + ", with a point";
  if (fraction.empty()) return "write " + shown(whole);
  return "write " + shown(whole) + ", or " + shown(fraction) + " for a fraction";
}

CommaNumber ReadCommas(std::string_view written) {
  const std::string text = ReadPlainNumber(written).text;
  CommaNumber number{WithPoint(text), WithoutGroups(text)};
  if (!ParseReal(number.fraction)) number.fraction.clear();
  return number;
}

std::string HelpWithCommas(std::string_view text, const std::string& key) {
  std::vector<std::string> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    numbers.emplace_back(text.substr(0, comma));
    if (!ParseReal(numbers.back())) return "";
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (numbers.size() < 3) return "";
  if (numbers[1].size() == 3) return "write the number without commas";
  return fmt::format("write one number without commas, or a list: `{}[{}]`",
                     key.empty() ? "" : key + ": ", fmt::join(numbers, ", "));
}

bool ExtendNumber(TreeEntry& before, const std::string& key, const SourceMark& key_mark) {
  TreeNode& number = before.value;
  if (!number.IsScalar() || number.quoted || number.scalar.size() > kLongestList) return false;
  if (number.mark.line != key_mark.line) return false;
  const int gap = key_mark.column - number.mark.column - number.mark.length;
  const bool touches = gap == 1;
  const std::string longer = number.scalar + (touches ? "," : ", ") + key;
  if (gap == 2 && IsListOfNumbers(longer)) {
    number.scalar = longer;
    number.mark.length += gap + key_mark.length;
    return true;
  }
  const bool is_begun = !number.mended && number.scalar.find(',') != std::string::npos &&
                        number.scalar.find_first_not_of("+-.,0123456789") == std::string::npos;
  if (!touches || (!is_begun && ReadCommas(longer).Help().empty())) return false;
  number.scalar = longer;
  number.mark.length += 1 + key_mark.length;
  return true;
}

bool BeginsWithFurther(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  if (!text.starts_with(',')) return false;
  text.remove_prefix(1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  text.remove_prefix(digits);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return digits > 0 && (text.empty() || std::string_view(",}\n#").find(text[0]) != text.npos);
}

void MendNumber(TreeEntry& entry, Diagnostics& diagnostics) {
  TreeNode& number = entry.value;
  const std::string written = number.scalar;
  const CommaNumber meant = ReadCommas(written);
  const std::string note = ReadPlainNumber(written).note;
  const std::string help = meant.Help(entry.key) + (note.empty() ? "" : ": " + note);
  const size_t first = written.find(','), second = written.find(',', first + 1);
  const size_t key = written[first + 1] == ' ' ? first + 2 : first + 1;
  diagnostics.Error(number.mark,
                    "a comma ends a value: '" + entry.key + "' is " + written.substr(0, first) +
                        " here, and '" + written.substr(key, second - key) + "' a key",
                    key > first + 1        ? "write `" + entry.key + ": [" + written + "]`"
                    : meant.Help().empty() ? HelpWithCommas(written, entry.key)
                                           : help);
  if (!meant.whole.empty()) number.scalar = meant.whole;
  if (meant.whole.empty() && !meant.fraction.empty()) number.scalar = meant.fraction;
  number.mended = meant.whole.empty();
}

std::string WithPoint(std::string_view text) {
  if (std::ranges::count(text, ',') != 1) return "";
  std::string pointed(text);
  pointed[pointed.find(',')] = '.';
  return pointed;
}

}  // namespace cgrun
