// Fields one by one, features column by column.
#include "src/data/csv_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "src/base/synonyms.h"

namespace cgrun {
namespace {

// Calls `act(column, span, step)` for each column until it gives false; that column, or nothing.
template <class T, class Act>
std::optional<size_t> FirstThatFails(std::span<T> values, size_t columns, Act act) {
  for (size_t column = 0; column < columns; ++column) {
    for (size_t i = column; i < values.size(); i += columns) {
      if (!act(column, values[i])) return column;
    }
  }
  return std::nullopt;
}

template <class Act>
std::optional<size_t> ForEachValue(HostTensor& features, size_t columns, Act act) {
  if (features.dtype() == DType::kF64) {
    return FirstThatFails(features.data<double>(), columns, act);
  }
  if (features.dtype() == DType::kF32) return FirstThatFails(features.data<float>(), columns, act);
  return std::nullopt;
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

std::optional<size_t> FillGaps(HostTensor& features, const std::vector<double>& means) {
  return ForEachValue(features, means.size(), [&]<class T>(size_t column, T& value) {
    if (!std::isnan(value)) return true;
    value = static_cast<T>(means[column]);
    return !std::isnan(means[column]);
  });
}

std::optional<size_t> Standardize(HostTensor& features, const std::vector<double>& means,
                                  const std::vector<double>& deviations) {
  return ForEachValue(features, means.size(), [&]<class T>(size_t column, T& value) {
    value = static_cast<T>((static_cast<double>(value) - means[column]) / deviations[column]);
    return !std::isnan(means[column]);
  });
}

std::string CommaHelp(std::string_view text) {
  text = Trimmed(text);
  const size_t comma = std::min(text.find(','), text.size());
  const std::string_view head = text.substr(0, comma);
  const std::string_view tail = text.substr(std::min(comma + 1, text.size()));
  const size_t digits = head.size() - (head.starts_with('-') ? 1 : 0);
  const bool thousands = digits >= 1 && digits <= 3 && head.find('0') != head.size() - digits &&
                         tail.size() == 3 && tail.find_first_not_of("0123456789") == tail.npos;
  if (!thousands) return "a fraction is written with a point, as 2.5";
  const std::string whole(head), fraction(tail);
  return "write " + whole + fraction + ", or " + whole + "." + fraction + " for a fraction";
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
    if (rest.size() < text.size() && IsFiniteNumber(rest)) {
      return "leave the sign out: write " + std::string(rest);
    }
  }
  return "";
}

}  // namespace cgrun
