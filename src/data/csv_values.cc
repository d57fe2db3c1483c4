// Fields one by one, features column by column.
#include "src/data/csv_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/base/synonyms.h"

namespace cgrun {
namespace {

// Calls `act(column, value)` for each value, row by row, as they lie in memory. The first of the
// columns for which it gave false, or nothing.
template <class T, class Act>
std::optional<size_t> FirstThatFails(std::span<std::byte> values, size_t columns, Act act) {
  size_t failed = columns;
  for (size_t i = 0; i < values.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, values.data() + i * sizeof(T), sizeof(T));
    const size_t column = i % columns;
    if (!act(column, value)) failed = std::min(failed, column);
    std::memcpy(values.data() + i * sizeof(T), &value, sizeof(T));
  }
  return failed == columns ? std::nullopt : std::optional<size_t>(failed);
}

template <class Act>
std::optional<size_t> ForEachValue(DType dtype, std::span<std::byte> features, size_t columns,
                                   Act act) {
  if (dtype == DType::kF64) return FirstThatFails<double>(features, columns, act);
  if (dtype == DType::kF32) return FirstThatFails<float>(features, columns, act);
  return std::nullopt;
}

constexpr std::string_view kDigits = "0123456789";

size_t CountDigits(std::string_view text) {
  return std::min(text.find_first_not_of(kDigits), text.size());
}

// Returns whether a text may stand before groups of three digits: "1", "-12", "999".
bool IsHead(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= 3 && text[0] != '0' && CountDigits(text) == text.size();
}

// Takes the groups of three digits off the front of `text`, which `mark` stands before, and adds
// them to `number`; how many they were.
int TakeGroups(std::string_view& text, std::string_view mark, std::string& number) {
  int groups = 0;
  while (text.starts_with(mark) && CountDigits(text.substr(mark.size())) == 3) {
    number += text.substr(mark.size(), 3);
    text.remove_prefix(mark.size() + 3);
    ++groups;
  }
  return groups;
}

std::string WithoutMarks(const std::string& number) {
  return "write " + number + ": no mark stands between the thousands of a number";
}

}  // namespace

bool IsGap(const CsvField& field, bool is_name) {
  return IsMissing(field.text) && !(is_name && field.quoted && !Trimmed(field.text).empty());
}

bool IsOtherGap(std::string_view text) {
  const std::string plain = PlainName(text);
  return plain.empty() || plain == "n/a" || plain == "#n/a" || plain == "null" || plain == "none" ||
         plain == "nil" || plain == "missing" || plain == "unknown";
}

std::string_view NameIn(const CsvField& field) {
  return field.quoted ? field.text : Trimmed(field.text);
}

std::string FaultText(TextNumber error, DType dtype) {
  switch (error) {
    case TextNumber::kNotFinite:
      return "is not finite";
    case TextNumber::kNotInteger:
      return "is not an integer";
    case TextNumber::kTooLarge:
      return "is too large for " + std::string(Name(dtype));
    case TextNumber::kStored:
    case TextNumber::kNotNumber:
      break;
  }
  return "is not a number";
}

std::optional<size_t> FillGaps(DType dtype, std::span<std::byte> features,
                               const std::vector<double>& means) {
  return ForEachValue(dtype, features, means.size(), [&]<class T>(size_t column, T& value) {
    if (!std::isnan(value)) return true;
    value = static_cast<T>(means[column]);
    return !std::isnan(means[column]);
  });
}

std::optional<size_t> Standardize(DType dtype, std::span<std::byte> features,
                                  const std::vector<double>& means,
                                  const std::vector<double>& deviations) {
  return ForEachValue(dtype, features, means.size(), [&]<class T>(size_t column, T& value) {
    value = static_cast<T>((static_cast<double>(value) - means[column]) / deviations[column]);
    return !std::isnan(means[column]);
  });
}

std::string PointHelp() { return "a fraction is written with a point, as 2.5"; }

std::string CommaHelp(std::string_view text) {
  text = Trimmed(text);
  const size_t comma = std::min(text.find(','), text.size());
  const std::string_view head = text.substr(0, comma);
  const std::string_view tail = text.substr(std::min(comma + 1, text.size()));
  const size_t digits = head.size() - (head.starts_with('-') ? 1 : 0);
  const bool thousands = digits >= 1 && digits <= 3 && head.find('0') != head.size() - digits &&
                         tail.size() == 3 && tail.find_first_not_of("0123456789") == tail.npos;
  if (!thousands) return PointHelp();
  const std::string whole(head), fraction(tail);
  return "write " + whole + fraction + ", or " + whole + "." + fraction + " for a fraction";
}

std::string GroupsHelp(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const size_t head = sign + CountDigits(text.substr(sign));
  if (!IsHead(text.substr(0, head))) return "";
  for (const std::string_view mark : {",", ".", " ", "'", "_", "\u00a0", "\u202f", "\u2019"}) {
    std::string_view rest = text.substr(head);
    std::string number(text.substr(0, head));
    const int groups = TakeGroups(rest, mark, number);
    const bool point = !rest.empty() && (rest[0] == '.' || rest[0] == ',') && rest[0] != mark[0];
    const bool fraction =
        point && rest.size() > 1 && CountDigits(rest.substr(1)) + 1 == rest.size();
    const bool plain = mark != "," && mark != ".";  // one alone may be the point
    if (groups == 0 || (!rest.empty() && !fraction)) continue;
    if (groups == 1 && !plain && !fraction) continue;
    if (fraction) return WithoutMarks(number + "." + std::string(rest.substr(1)));
    return WithoutMarks(number);
  }
  return "";
}

std::string SignHelp(std::string_view text) {
  text = Trimmed(text);
  for (const std::string_view sign : {"$", "€", "£", "¥", "%"}) {
    std::string_view rest = text;
    if (rest.starts_with(sign)) {
      rest.remove_prefix(sign.size());
    } else if (rest.ends_with(sign)) {
      rest.remove_suffix(sign.size());
    }
    rest = Trimmed(rest);
    if (rest.size() == text.size()) continue;
    const std::string groups = GroupsHelp(rest);
    if (!groups.empty()) return "leave the sign out: " + groups;
    if (IsFiniteNumber(rest)) return "leave the sign out: write " + std::string(rest);
  }
  return "";
}

}  // namespace cgrun
